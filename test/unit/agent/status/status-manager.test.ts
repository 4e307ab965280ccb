import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { Subscription } from 'rxjs';
import { silentLogger } from '../../../../src/base/logger.ts';
import type { PodStatus } from '../../../../src/model/pod.ts';
import { formatTime } from '../../../../src/model/time.ts';
import { PodStatusManager } from '../../../../src/agent/status/status-manager.ts';
import type { StatusChange } from '../../../../src/ports/pod-statuses.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';

let nowMs = 0;
let manager: PodStatusManager;
let changes: StatusChange[];
let subscription: Subscription;

beforeEach(() => {
  nowMs = 1_600_000_000_000;
  manager = new PodStatusManager({ clock: { now: () => nowMs }, log: silentLogger, apiStatusOf: () => undefined });
  changes = [];
  subscription = manager.changes.subscribe((change) => changes.push(change));
});
afterEach(() => subscription.unsubscribe());

const pod = aPod('web');
const uid = pod.metadata.uid;
const ready = (status: 'True' | 'False'): PodStatus => ({ phase: 'Running', conditions: [{ type: 'Ready', status }] });
const withState = (name: string, state: NonNullable<PodStatus['containerStatuses']>[number]['state']) => ({
  name,
  image: '',
  imageID: '',
  ready: false,
  restartCount: 0,
  ...(state ? { state } : {}),
});

test('an equal status tells nobody anything', () => {
  manager.set(pod, ready('True'));
  nowMs += 60_000;
  manager.set(pod, ready('True'));
  assert.equal(changes.length, 1);
});

test('a transition time moves with the status of its condition, and only then', () => {
  const at = (): string | undefined => manager.get(uid)?.conditions?.[0]?.lastTransitionTime;
  manager.set(pod, ready('False'));
  const first = formatTime(nowMs);
  assert.equal(at(), first);
  nowMs += 5000;
  manager.set(pod, { ...ready('False'), message: 'still not' });
  assert.equal(at(), first);
  manager.set(pod, ready('True'));
  assert.equal(at(), formatTime(nowMs));
  assert.deepEqual(
    changes.map(({ previous }) => previous?.message),
    [undefined, undefined, 'still not'],
  );
});

test('times that came with the pod survive a restart of the agent', () => {
  const old = {
    startTime: '2020-01-01T00:00:00Z',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2020-01-01T00:00:05Z' }],
  };
  manager.set({ ...pod, status: old }, ready('True'));
  assert.equal(manager.get(uid)?.startTime, old.startTime);
  assert.equal(manager.get(uid)?.conditions?.[0]?.lastTransitionTime, '2020-01-01T00:00:05Z');
});

test('times that become known late count, and are news to nobody', () => {
  manager.set(pod, ready('True'));
  const since = formatTime(nowMs - 60_000);
  manager.adopt(uid, { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: since }] });
  assert.equal(manager.get(uid)?.conditions?.[0]?.lastTransitionTime, formatTime(nowMs));
  manager.adopt(uid, { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }] });
  assert.equal(manager.get(uid)?.conditions?.[0]?.lastTransitionTime, since);
  assert.equal(changes.length, 1);
});

test('a start time is set once', () => {
  manager.set(pod, { phase: 'Pending' });
  const startTime = formatTime(nowMs);
  nowMs += 5000;
  manager.set(pod, { phase: 'Running', startTime: formatTime(nowMs) });
  assert.equal(manager.get(uid)?.startTime, startTime);
});

test('a container that ended for good does not come back', () => {
  const rows = [
    ['Never', 0, false],
    ['Never', 1, false],
    ['OnFailure', 0, false],
    ['OnFailure', 1, true],
    ['Always', 0, true],
  ] as const;
  for (const [restartPolicy, exitCode, accepted] of rows) {
    const some = aPod(`${restartPolicy}-${exitCode}`, { restartPolicy });
    manager.set(some, { containerStatuses: [withState('app', { terminated: { exitCode } })] });
    const before = changes.length;
    manager.set(some, { containerStatuses: [withState('app', { running: {} })] });
    assert.equal(changes.length > before, accepted, `${restartPolicy} ${exitCode}`);
  }
});

test('a container comes back by its own policy, by its rules, and where one end restarts all', () => {
  const rule = (action: string) => [{ action, exitCodes: { operator: 'In', values: [3] } }];
  const rows = [
    [aContainer('app', { restartPolicy: 'OnFailure' }), 1, true],
    [aContainer('app', { restartPolicy: 'OnFailure' }), 0, false],
    [aContainer('app', { restartPolicy: 'Never', restartPolicyRules: rule('Restart') }), 3, true],
    [aContainer('app', { restartPolicy: 'Never', restartPolicyRules: rule('Restart') }), 4, false],
    [aContainer('app', { restartPolicy: 'Never', restartPolicyRules: rule('RestartAllContainers') }), 4, true],
  ] as const;
  for (const [index, [container, exitCode, accepted]] of rows.entries()) {
    const some = aPod(`web-${index}`, { restartPolicy: 'Never', containers: [container] });
    manager.set(some, { containerStatuses: [withState('app', { terminated: { exitCode } })] });
    const before = changes.length;
    manager.set(some, { containerStatuses: [withState('app', { running: {} })] });
    assert.equal(changes.length > before, accepted, `row ${index}`);
  }
});

test('a sidecar comes back under any restart policy', () => {
  const some = aPod('web', { restartPolicy: 'Never', initContainers: [aContainer('proxy', { restartPolicy: 'Always' })] });
  manager.set(some, { initContainerStatuses: [withState('proxy', { terminated: { exitCode: 1 } })] });
  manager.set(some, { initContainerStatuses: [withState('proxy', { running: {} })] });
  assert.equal(changes.length, 2);
});

test('termination messages share twelve kilobytes and are never cut within a character', () => {
  const two = aPod('web', { containers: [aContainer('a'), aContainer('b')] });
  manager.set(two, { containerStatuses: [withState('a', { terminated: { exitCode: 1, message: `x${'ä'.repeat(6000)}` } })] });
  const message = manager.get(uid)?.containerStatuses?.[0]?.state?.terminated?.message ?? '';
  assert.equal(message, `x${'ä'.repeat(3071)}`);
});

test('a forgotten pod is told anew', () => {
  manager.set(pod, ready('True'));
  manager.forget(uid);
  assert.equal(manager.get(uid), undefined);
  manager.set(pod, ready('True'));
  assert.equal(changes.length, 2);
});

const addresses: PodStatus = { podIP: '10.0.0.5', podIPs: [{ ip: '10.0.0.5' }], hostIP: '10.1.2.3', hostIPs: [{ ip: '10.1.2.3' }] };
const addressesOf = ({ podIP, podIPs, hostIP, hostIPs }: PodStatus = {}) => ({ podIP, podIPs, hostIP, hostIPs });

test('a pod that has lost its network keeps the addresses that it had, until it has others', () => {
  manager.set(pod, { phase: 'Running', ...addresses });
  manager.set(pod, { phase: 'Failed', reason: 'DeadlineExceeded' });
  assert.deepEqual(addressesOf(manager.get(uid)), addresses);
  const others: PodStatus = { ...addresses, podIP: '10.0.0.6', podIPs: [{ ip: '10.0.0.6' }] };
  manager.set(pod, { phase: 'Running', ...others });
  assert.deepEqual(addressesOf(manager.get(uid)), others);
});

test('addresses that came with the pod survive a restart of the agent', () => {
  manager.set({ ...pod, status: { phase: 'Succeeded', ...addresses } }, { phase: 'Succeeded' });
  assert.deepEqual(addressesOf(manager.get(uid)), addresses);
});

test('addresses that become known late count, unless the pod has others', () => {
  manager.set(pod, { phase: 'Succeeded' });
  manager.adopt(uid, { phase: 'Running', ...addresses });
  assert.deepEqual(addressesOf(manager.get(uid)), addresses);
  manager.adopt(uid, { phase: 'Running', podIP: '10.0.0.9', podIPs: [{ ip: '10.0.0.9' }] });
  assert.deepEqual(addressesOf(manager.get(uid)), addresses);
});
