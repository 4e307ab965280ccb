import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodStatus } from '../../../../src/model/pod.ts';
import { Quantity } from '../../../../src/model/quantity.ts';
import type { ProbeResult } from '../../../../src/model/probe-result.ts';
import type { ObservedPod } from '../../../../src/ports/container-runtime.ts';
import { generatePodStatus, type PodStatusFacts, withoutUnstarted } from '../../../../src/agent/status/generate-pod-status.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { anInstance, anObservedPod, aSandbox, bootMs, exited } from '../../../builders/an-observed-pod.ts';

const calm: PodStatusFacts = {
  previous: undefined,
  startErrors: new Map(),
  startup: () => undefined,
  readiness: () => undefined,
  hostIPs: [],
  runtimeName: 'docker',
};
const proxied = aPod('web', {
  restartPolicy: 'Never',
  initContainers: [aContainer('proxy', { restartPolicy: 'Always', startupProbe: {} })],
});

function statusOf(pod: Pod, containers: ObservedPod['containers'], facts: Partial<PodStatusFacts> = {}): PodStatus {
  return generatePodStatus(pod, anObservedPod(pod, { sandboxes: [aSandbox()], containers }), { ...calm, ...facts });
}
const conditionOf = (status: PodStatus, type: string): string =>
  status.conditions?.find((condition) => condition.type === type)?.status ?? 'absent';

test('a pod with a running sidecar is Running once the sidecar has started and the app runs', () => {
  const rows: readonly (readonly [ProbeResult | undefined, appRuns: boolean, phase: string, initialized: string])[] = [
    [undefined, false, 'Pending', 'False'],
    ['success', false, 'Pending', 'True'],
    ['success', true, 'Running', 'True'],
    // The sidecar came anew: that does not set the pod back.
    ['unknown', true, 'Running', 'True'],
  ];
  for (const [startup, appRuns, phase, initialized] of rows) {
    const containers = [...(appRuns ? [anInstance(proxied, 'app')] : []), anInstance(proxied, 'proxy')];
    const status = statusOf(proxied, containers, { startup: (id) => (id === 'proxy-0' ? startup : undefined) });
    assert.equal(status.phase, phase);
    assert.equal(conditionOf(status, 'Initialized'), initialized);
  }
});

test('a sidecar that is not ready makes the pod unready', () => {
  const containers = [anInstance(proxied, 'app'), anInstance(proxied, 'proxy')];
  assert.equal(conditionOf(statusOf(proxied, containers, { startup: () => 'success' }), 'Ready'), 'True');
  const unready = statusOf(proxied, containers, { startup: (id) => (id === 'proxy-0' ? 'failure' : 'success') });
  assert.equal(conditionOf(unready, 'Ready'), 'False');
  assert.equal(unready.conditions?.find(({ type }) => type === 'Ready')?.message, 'containers with unready status: [proxy]');
});

test('a pod whose app has ended is finished only when its sidecars have ended too', () => {
  const app = anInstance(proxied, 'app', { state: exited(0) });
  assert.equal(statusOf(proxied, [app, anInstance(proxied, 'proxy')], { startup: () => 'success' }).phase, 'Running');
  assert.equal(statusOf(proxied, [app, anInstance(proxied, 'proxy', { state: exited(137) })]).phase, 'Succeeded');
});

test('a failing sidecar in back-off waits with its reason and leaves the phase alone', () => {
  const proxy = anInstance(proxied, 'proxy', { state: exited(1) });
  const startErrors = new Map([['proxy', { reason: 'CrashLoopBackOff', message: 'back-off 10s restarting failed container=proxy' }]]);
  const status = statusOf(proxied, [anInstance(proxied, 'app'), proxy], { startErrors });
  assert.equal(status.phase, 'Running');
  const [told] = status.initContainerStatuses ?? [];
  assert.equal(told?.state?.waiting?.reason, 'CrashLoopBackOff');
  assert.equal(told?.lastState?.terminated?.exitCode, 1);
});

test('a pod does not come back from an end that was told before', () => {
  const pod = aPod('web', { restartPolicy: 'Never' });
  assert.equal(statusOf(pod, [anInstance(pod, 'app')], { previous: { phase: 'Succeeded' } }).phase, 'Succeeded');
});

test('a container that was created and never started does not end its pod', () => {
  const pod = aPod('web', { restartPolicy: 'Never' });
  const created = anObservedPod(pod, { sandboxes: [aSandbox()], containers: [anInstance(pod, 'app', { state: { phase: 'created' } })] });
  const status = generatePodStatus(pod, withoutUnstarted(created), calm);
  assert.equal(status.phase, 'Pending');
  assert.equal(status.containerStatuses?.[0]?.state?.waiting?.reason, 'ContainerCreating');
});

test('only the sandbox in use gives the pod its addresses', () => {
  const pod = aPod('web');
  const dead = anObservedPod(pod, { sandboxes: [aSandbox({ ready: false })] });
  assert.equal(generatePodStatus(pod, dead, calm).podIP, undefined);
  assert.equal(statusOf(pod, []).podIP, '10.0.0.2');
});

test('without a node address there is no host address, and a pod on the host network has none either', () => {
  const pod = aPod('web', { hostNetwork: true });
  const observed = anObservedPod(pod, { sandboxes: [aSandbox({ network: 'node', ips: [] })] });
  assert.equal(generatePodStatus(pod, observed, calm).podIP, undefined);
  const status = generatePodStatus(pod, observed, { ...calm, hostIPs: ['10.1.2.3', 'fd00::1'] });
  assert.deepEqual([status.hostIP, status.podIPs], ['10.1.2.3', [{ ip: '10.1.2.3' }, { ip: 'fd00::1' }]]);
});

test('a pod over its deadline has failed, counted from when it began', () => {
  const pod = aPod('web', { activeDeadlineSeconds: 60 });
  const began = { startTimeMs: bootMs, ageMs: 60_000 };
  const { phase, reason, message, startTime } = statusOf(pod, [anInstance(pod, 'app')], began);
  assert.deepEqual(
    { phase, reason, message, startTime },
    {
      phase: 'Failed',
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
      startTime: '2020-09-13T12:26:40Z',
    },
  );
  assert.equal(statusOf(pod, [anInstance(pod, 'app')], { startTimeMs: bootMs, ageMs: 59_999 }).phase, 'Running');
});

test('of a container that was told twice the last telling counts', () => {
  const told = { name: 'app', image: 'img', imageID: '', ready: false, state: {} };
  const pod = aPod('web');
  const previous: PodStatus = {
    containerStatuses: [
      { ...told, restartCount: 3 },
      { ...told, restartCount: 4 },
    ],
  };
  assert.equal(statusOf(pod, [], { previous }).containerStatuses?.[0]?.restartCount, 4);
});

test('what the pod as a whole and its containers have is told once it is known', () => {
  const pod = {
    ...aPod('web', { containers: [aContainer('app', { resources: { limits: { cpu: '1' }, requests: { cpu: '1' } } })] }),
    status: {},
  };
  const running = anInstance(pod, 'app', { resources: { cpuLimit: Quantity.parse('500m') } });
  const silent = statusOf(pod, [running]);
  assert.equal(silent.resources, undefined);
  const told = statusOf(pod, [running], { resources: { podCgroup: undefined } });
  assert.deepEqual(told.containerStatuses?.[0]?.resources, { limits: { cpu: '500m' }, requests: { cpu: '1' } });
  assert.deepEqual(told.containerStatuses?.[0]?.allocatedResources, { cpu: '1' });
  assert.deepEqual([told.resources, told.allocatedResources], [{ limits: { cpu: '1' }, requests: { cpu: '1' } }, { cpu: '1' }]);
});

test('a pod with a cgroup of its own is told as the cgroup has it', () => {
  const pod = { ...aPod('web', { resources: { limits: { memory: '1Gi' } } }), status: { phase: 'Running' } };
  const podCgroup = { cpuShares: 1024, cpuQuota: -1, cpuPeriod: 100_000, memory: 2 ** 29 };
  const { resources } = statusOf(pod, [anInstance(pod, 'app')], { resources: { podCgroup } });
  assert.deepEqual(resources, { limits: { memory: '512Mi' }, requests: { cpu: '1' } });
});

test('each condition says of which generation it is, those of a resize come first', () => {
  const pod = aPod('web', {}, { generation: 3 });
  const pending = { type: 'PodResizePending', status: 'True', reason: 'Deferred', observedGeneration: 2 };
  const { conditions } = statusOf(pod, [anInstance(pod, 'app')], { readyToStart: true, resizeConditions: [pending] });
  assert.deepEqual(
    conditions?.map(({ type, observedGeneration }) => [type, observedGeneration]),
    [
      ['PodResizePending', 2],
      ['PodReadyToStartContainers', 3],
      ['Initialized', 3],
      ['Ready', 3],
      ['ContainersReady', 3],
      ['PodScheduled', 3],
    ],
  );
});

test('a container that runs since before the agent began is as ready as its pod was', () => {
  const probed = aPod('web', { containers: [aContainer('app', { readinessProbe: { tcpSocket: { port: 80 } } })] });
  const readyWas = (status: string): boolean | undefined => {
    const pod = { ...probed, status: { conditions: [{ type: 'Ready', status }] } };
    return statusOf(pod, [anInstance(pod, 'app')], { ranBefore: () => true }).containerStatuses?.[0]?.ready;
  };
  assert.deepEqual([readyWas('True'), readyWas('False')], [true, false]);
});

test('when the end of a container restarts all of them, a removed one waits with that reason and counts', () => {
  const rule = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } };
  const asking = aContainer('asking', { restartPolicy: 'Never', restartPolicyRules: [rule] });
  const pod = aPod('web', { containers: [asking, aContainer('other')] });
  const ran = statusOf(pod, [anInstance(pod, 'asking'), anInstance(pod, 'other')]);
  const { conditions, containerStatuses } = statusOf(pod, [anInstance(pod, 'asking', { state: exited(42) })], { previous: ran });
  assert.equal(conditions?.find(({ type }) => type === 'AllContainersRestarting')?.status, 'True');
  const other = containerStatuses?.find(({ name }) => name === 'other');
  assert.deepEqual(
    [other?.state?.waiting?.reason, other?.lastState?.terminated?.exitCode, other?.restartCount],
    ['RestartingAllContainers', 137, 1],
  );
});

test('a mount that is read-only says whether what is below it is, too', () => {
  const mount = { name: 'data', mountPath: '/data', readOnly: true, recursiveReadOnly: 'IfPossible' };
  const pod = aPod('web', { containers: [aContainer('app', { volumeMounts: [mount, { name: 'tmp', mountPath: '/tmp' }] })] });
  const mounts = (recursiveReadOnly: boolean): unknown => statusOf(pod, [], { recursiveReadOnly }).containerStatuses?.[0]?.volumeMounts;
  assert.deepEqual(mounts(true), [
    { name: 'data', mountPath: '/data', readOnly: true, recursiveReadOnly: 'Enabled' },
    { name: 'tmp', mountPath: '/tmp' },
  ]);
  assert.deepEqual((mounts(false) as readonly unknown[])[0], { ...mount, recursiveReadOnly: 'Disabled' });
});

test('as whom a container runs is kept when the engine has forgotten it, of the same instance alone', () => {
  const pod = aPod('web');
  const user = { uid: 7, gid: 8, supplementalGroups: [9] };
  const previous = statusOf(pod, [anInstance(pod, 'app', { user })]);
  const usersOf = (status: PodStatus): unknown => status.containerStatuses?.map((each) => each.user);
  assert.deepEqual(usersOf(previous), [{ linux: user }]);
  assert.deepEqual(usersOf(statusOf(pod, [anInstance(pod, 'app', { state: exited(0) })], { previous })), [{ linux: user }]);
  assert.deepEqual(usersOf(statusOf(pod, [anInstance(pod, 'app', { attempt: 1 })], { previous })), [undefined]);
});

test('the stop signal is told where the container names one', () => {
  const signalOf = (pod: Pod): unknown =>
    statusOf(pod, [anInstance(pod, 'app', { stopSignal: 'SIGQUIT' })]).containerStatuses?.map(({ stopSignal }) => stopSignal);
  assert.deepEqual(signalOf(aPod('web')), [undefined]);
  assert.deepEqual(signalOf(aPod('web', { containers: [aContainer('app', { lifecycle: { stopSignal: 'SIGQUIT' } })] })), ['SIGQUIT']);
});
