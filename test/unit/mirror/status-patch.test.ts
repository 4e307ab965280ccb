import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodStatus } from '../../../src/model/pod.ts';
import { statusPatch } from '../../../src/mirror/status-patch.ts';
import { aPod } from '../../builders/a-pod.ts';

const told: PodStatus = { phase: 'Running', hostIP: '10.0.0.1', startTime: '2021-01-01T00:00:00Z' };
const newer: PodStatus = { ...told, hostIPs: [{ ip: '10.0.0.1' }], observedGeneration: 2 };
const object = (status: PodStatus): Pod => ({ ...aPod('web'), status });
const sent = (api: PodStatus, ours: PodStatus): readonly string[] =>
  Object.keys(statusPatch(object(api), ours).patch?.['status'] ?? {})
    .filter((key) => !key.startsWith('$'))
    .sort();

for (const [what, api, ours, expected] of [
  ['fields that an older API server has dropped are no news', told, newer, []],
  ['they go along with news', told, { ...newer, phase: 'Failed' }, ['hostIPs', 'observedGeneration', 'phase']],
  ['they go along with the first status', {}, newer, ['hostIP', 'hostIPs', 'observedGeneration', 'phase', 'startTime']],
  ['a server that knows them is told what has changed', { ...newer, observedGeneration: 1 }, newer, ['observedGeneration']],
  ['and nothing when nothing has', newer, newer, []],
] as const)
  test(what, () => assert.deepEqual(sent(api, ours), expected));

test('what an older API server has dropped does not make the statuses differ', () => {
  assert.equal(statusPatch(object(told), newer).same, true);
  assert.equal(statusPatch(object({ ...told, phase: 'Pending' }), newer).same, false);
});

test('what containers have shown since pods have a generation is told to API servers that give them one', () => {
  const [container] = [{ name: 'app', image: 'a', imageID: '', ready: true, restartCount: 0, user: { linux: { uid: 1, gid: 2 } } }];
  const { user: _, ...older } = container;
  const api = object({ ...told, containerStatuses: [older] });
  const ours = { ...told, containerStatuses: [container] };
  assert.deepEqual(statusPatch(api, ours), { patch: undefined, same: true });
  const today = { ...api, metadata: { ...api.metadata, generation: 1 } };
  assert.match(JSON.stringify(statusPatch(today, ours).patch), /"user":\{"linux":\{"uid":1,"gid":2\}\}/);
});

const disruption = (reason: string): PodStatus => ({
  ...told,
  conditions: [{ type: 'DisruptionTarget', status: 'True', reason, message: reason }],
});

for (const [what, api, ours, expected] of [
  ['that the kubelet ends a pod is told', told, disruption('TerminationByKubelet'), 'TerminationByKubelet'],
  ['in place of what others said', disruption('EvictionByEvictionAPI'), disruption('TerminationByKubelet'), 'TerminationByKubelet'],
  ['what others said is not touched', disruption('EvictionByEvictionAPI'), disruption('PreemptionByScheduler'), undefined],
  ['what the kubelet said stays where it no longer says so', disruption('TerminationByKubelet'), told, undefined],
] as const)
  test(`condition DisruptionTarget: ${what}`, () => {
    const { patch } = statusPatch(object(api), ours);
    const status = Object(patch?.['status']);
    assert.equal(status.conditions?.[0]?.reason, expected);
    assert.equal(status.conditions?.length, expected && 1);
  });
