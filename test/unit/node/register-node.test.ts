import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/model/api-error.ts';
import { composeNodeStatus } from '../../../src/node/compose-node-status.ts';
import { explainRefusal, registerNode } from '../../../src/node/register-node.ts';
import { someNodeFacts } from '../../builders/node-facts.ts';
import { FakeKubeApi, refusals } from '../../fakes/fake-kube-api.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const never = new AbortController().signal;
const initial = composeNodeStatus({ metadata: { name: 'n1', labels: { 'kubernetes.io/os': 'linux' } } }, someNodeFacts()).node;

function world(): { api: FakeKubeApi; log: RecordingLogger } {
  return { api: new FakeKubeApi(), log: new RecordingLogger() };
}

test('a node that is not there is created with its status', async () => {
  const { api, log } = world();
  const { node, created } = await registerNode(initial, { api, log }, never);
  assert.deepEqual([created, node.status?.nodeInfo?.machineID], [true, 'machine']);
  assert.deepEqual(api.calls(), ['POST /api/v1/nodes']);
});

test('a node that is there as it should be is only read', async () => {
  const { api, log } = world();
  await registerNode(initial, { api, log }, never);
  const { created } = await registerNode(initial, { api, log }, never);
  assert.equal(created, false);
  assert.deepEqual(api.calls().slice(1), ['POST /api/v1/nodes', 'GET /api/v1/nodes/n1']);
  assert.equal(log.lines.filter(({ level }) => level !== 'info').length, 0);
});

test('a node that is there is corrected; another machine of its name is told', async () => {
  const { api, log } = world();
  api.put('/api/v1/nodes/n1', { metadata: { labels: { role: 'theirs' } }, status: { nodeInfo: { machineID: 'other' } } });
  const { node } = await registerNode(initial, { api, log }, never);
  assert.deepEqual(node.metadata?.labels, { role: 'theirs', 'kubernetes.io/os': 'linux' });
  assert.deepEqual(api.requests.at(-1)?.body, { metadata: { labels: { 'kubernetes.io/os': 'linux' } } });
  assert.deepEqual(log.lines.find(({ level }) => level === 'warn')?.fields, { node: 'n1', machineId: 'machine', before: 'other' });
});

test('a node that may not be created, but exists, is adopted; without one the refusal stands', async () => {
  const { api, log } = world();
  api.refuse('POST', '/nodes', refusals.forbidden('create'), 2);
  await assert.rejects(registerNode(initial, { api, log }, never), { status: 403, message: /create/ });
  api.put('/api/v1/nodes/n1', {});
  assert.equal((await registerNode(initial, { api, log }, never)).created, false);
});

for (const [what, message, explained] of [
  [
    "another node's certificate, by admission",
    'nodes "n1" is forbidden: node "n2" is not allowed to modify node "n1"',
    /belongs to node "n2".*--hostname-override=n2/,
  ],
  [
    "another node's certificate, by authorization",
    'nodes "n1" is forbidden: User "system:node:n2" cannot get resource "nodes" in API group "" at the cluster scope: node "n2" cannot get node "n1"',
    /belongs to node "n2"/,
  ],
  ['nobody', 'nodes is forbidden: User "system:anonymous" cannot create resource "nodes"', /no valid client certificate or token/],
  [
    'somebody else',
    'nodes is forbidden: User "jane" cannot create resource "nodes" in API group "" at the cluster scope',
    /user "jane" may not register/,
  ],
] as const)
  test(`a refusal is explained: ${what}`, () =>
    assert.match(explainRefusal(new ApiError(403, 'Forbidden', message), 'n1') ?? '', explained));

test('what is no refusal is not explained', () => {
  assert.equal(explainRefusal(refusals.internal(), 'n1'), undefined);
  assert.equal(explainRefusal(new ApiError(403, 'Forbidden', 'quota'), 'n1'), undefined);
});
