import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capability } from '../../../src/metrics/capability.ts';
import type { PodUid } from '../../../src/model/pod.ts';
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
  listener.volumeMounted?.({ plugin: 'kubernetes.io/secret', tookMs: 200, failed: false });
  listener.volumeMounted?.({ plugin: 'kubernetes.io/nfs', tookMs: 700_000, failed: true });
  listener.podEvicted?.({ uid: 'uid-web' as PodUid, signal: 'nodefs.available' });
  listener.evictionStatsUsed?.({ signal: 'nodefs.available', ageMs: 300 });
  const texts = await Promise.all(metricTexts.map((text) => text(signal)));
  assert.match(texts.join(''), /^kubelet_evictions\{eviction_signal="nodefs.available"\} 1$/m);
  assert.match(texts.join(''), /^kubelet_eviction_stats_age_seconds_sum\{eviction_signal="nodefs.available"\} 0.3$/m);
  assert.match(texts.join(''), /^kubelet_node_name\{node="n1"\} 1$/m);
  assert.match(texts.join(''), /^workqueue_adds_total\{name="pods"\} 1$/m);
  const ofVolume = (plugin: string, status: string): string =>
    `volume_plugin="kubernetes.io/${plugin}",operation_name="volume_mount",status="${status}",migrated="false"`;
  for (const [line, count] of [
    [`bucket{le="0.1",${ofVolume('secret', 'success')}}`, 0],
    [`bucket{le="0.25",${ofVolume('secret', 'success')}}`, 1],
    [`bucket{le="600",${ofVolume('nfs', 'fail-unknown')}}`, 0],
    [`count{${ofVolume('nfs', 'fail-unknown')}}`, 1],
  ] as const)
    assert.ok(texts.join('').includes(`\nstorage_operation_duration_seconds_${line} ${count}\n`), line);
  assert.match(texts.join(''), /^go_goroutines [1-9]\d*$/m);
  const served = await serveRoutes(routes);
  t.after(() => served.close());
  const probes = await (await fetch(`${served.url}/metrics/probes`)).text();
  listener.healthChecked?.({ check: 'syncloop', failed: true });
  const slis = await (await fetch(`${served.url}/metrics/slis`)).text();
  assert.match(slis, /^kubernetes_healthcheck\{name="syncloop",type="healthz"\} 0$/m);
  assert.match(slis, /^kubernetes_healthchecks_total\{name="syncloop",type="healthz",status="error"\} 1$/m);
  assert.equal(await (await fetch(`${served.url}/metrics/slis`, { method: 'DELETE' })).text(), 'metrics reset\n');
  assert.doesNotMatch(await (await fetch(`${served.url}/metrics/slis`)).text(), /syncloop/);
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
