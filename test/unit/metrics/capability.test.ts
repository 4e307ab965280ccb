import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capability } from '../../../src/metrics/capability.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { nodeUnderTest, nothingGiven } from '../../builders/node-parts.ts';
import { serveRoutes } from '../../fakes/served-routes.ts';

const { signal } = new AbortController();

test('what happens is counted at /metrics, and what probes find at a page of its own', async (t) => {
  const scene = nodeUnderTest();
  t.after(() => scene.node.engine.close());
  const { listener, metricTexts = [], routes = [] } = capability(scene.node);
  assert.ok(listener?.keyReady && listener.probeExecuted);
  listener.keyReady({ queue: 'pods', key: 'a' });
  listener.probeExecuted({ pod: aPod('web'), container: 'app', kind: 'startup', result: 'unknown', tookMs: 20 });
  const texts = await Promise.all(metricTexts.map((text) => text(signal)));
  assert.match(texts.join(''), /^kubelet_node_name\{node="n1"\} 1$/m);
  assert.match(texts.join(''), /^workqueue_adds_total\{name="pods"\} 1$/m);
  const served = await serveRoutes(routes);
  t.after(() => served.close());
  const probes = await (await fetch(`${served.url}/metrics/probes`)).text();
  listener.healthChecked?.({ check: 'syncloop', failed: true });
  const slis = await (await fetch(`${served.url}/metrics/slis`)).text();
  assert.match(slis, /^kubernetes_healthcheck\{name="syncloop",type="healthz"\} 0$/m);
  assert.match(slis, /^kubernetes_healthchecks_total\{name="syncloop",type="healthz",status="error"\} 1$/m);
  assert.match(probes, /^prober_probe_duration_seconds_count\{probe_type="Startup",container="app",pod="web",namespace="default"\} 1$/m);
  assert.match(probes, /^prober_probe_total\{probe_type="Startup",result="unknown",container="app",pod="web",/m);
});

test('pods are counted while the agent runs', async (t) => {
  const scene = nodeUnderTest();
  t.after(() => scene.node.engine.close());
  const stop = new AbortController();
  const { services = [], metricTexts = [] } = capability(scene.node);
  const runs = services.map((service) => service.run(stop.signal, nothingGiven));
  scene.declare(aPod('two', { containers: [aContainer('a'), aContainer('b')] }));
  stop.abort();
  await Promise.all(runs);
  const texts = await Promise.all(metricTexts.map((text) => text(signal)));
  assert.match(texts.join(''), /^kubelet_containers_per_pod_count_sum 2$/m);
});
