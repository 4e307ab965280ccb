import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodeKubeconfig } from '../../builders/cluster-under-test.ts';
import { otlpReceiver, type ReceivedSpan } from '../../fakes/otlp-receiver.ts';
import { app, pod, stays } from '../../integration/agent/pod-specs.ts';
import { ClusterNode } from './cluster-node.ts';

test('an API server takes requests that carry a trace, and their spans say what it answered', { timeout: 180_000 }, async (t) => {
  const collector = await otlpReceiver(t);
  const node = await ClusterNode.prepare(t);
  const config = join(node.agent.dir, 'config.yaml');
  const tracing = { endpoint: collector.endpoint, samplingRatePerMillion: 1_000_000 };
  await writeFile(config, JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', tracing }));
  node.run(`--kubeconfig=${await nodeKubeconfig(node.name)}`, '--cluster-dns=10.96.0.10', `--config=${config}`);
  await node.ready();
  await node.create('web', pod([app(stays)]));
  await node.up('web');
  const isRequest =
    (verb: string, of: RegExp) =>
    ({ name, attributes }: ReceivedSpan): boolean =>
      name === `HTTP ${verb}` && of.test(String(attributes['url.path']));
  const wanted = [
    isRequest('PATCH', /\/pods\/.*\/status/),
    isRequest('POST', /\/events$/),
    isRequest('POST', /\/nodes$/),
    isRequest('PUT', /\/leases\//),
    isRequest('GET', /\/pods/),
  ];
  await collector.until((all) => wanted.every((is) => all.some(is)));
  const spans = collector.spans();
  const statuses = spans.flatMap(({ attributes }) => attributes['http.response.status_code'] ?? []).map(Number);
  assert.ok(statuses.length > 0);
  assert.deepEqual(
    statuses.filter((status) => status === 400 || status >= 500),
    [],
  );
  for (const is of wanted)
    assert.ok(
      spans.filter(is).some(({ attributes }) => [200, 201].includes(Number(attributes['http.response.status_code']))),
      JSON.stringify(spans.filter(is)),
    );
});
