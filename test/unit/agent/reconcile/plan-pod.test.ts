import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod, PodSpec } from '../../../../src/model/pod.ts';
import type { ContainerId, ObservedPod } from '../../../../src/ports/container-runtime.ts';
import type { PlanFacts, PodAction, PodPlan } from '../../../../src/ports/pod-plan.ts';
import { planPod } from '../../../../src/agent/reconcile/plan-pod.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { anInstance, anObservedPod, aSandbox, bootMs, exited } from '../../../builders/an-observed-pod.ts';

const calm: PlanFacts = {
  nowMs: bootMs + 60_000,
  life: 'syncing',
  restartHold: () => undefined,
  liveness: () => undefined,
  startup: () => undefined,
};

/** An action in a few words, for tables. */
function say(action: PodAction): string {
  switch (action.do) {
    case 'runSandbox':
      return `run sandbox ${action.attempt}`;
    case 'stopSandbox':
      return `stop ${action.id}`;
    case 'removeSandbox':
      return `remove ${action.id}`;
    case 'startContainer':
      return `start ${action.init ? 'init ' : ''}${action.name} ${action.attempt}`;
    case 'stopContainer':
      return `stop ${action.id} in ${action.graceMs / 1000}s`;
    case 'removeContainer':
      return `remove ${action.id}`;
    case 'updateContainer':
      return `update ${action.resource} of ${action.id}`;
    case 'pinContainer':
      return `pin ${action.id} to ${action.cpuset}`;
    case 'admit':
    case 'resize':
    case 'prepare':
    case 'tearDown':
    case 'release':
      return action.do;
    default:
      return action satisfies never;
  }
}

interface Row {
  readonly it: string;
  readonly pod?: Pod;
  /** No source declares the pod. */
  readonly undeclared?: true;
  readonly observed?: (pod: Pod) => Partial<Pick<ObservedPod, 'sandboxes' | 'containers'>>;
  readonly facts?: Partial<PlanFacts> | ((pod: Pod) => Partial<PlanFacts>);
  readonly actions: readonly string[];
  readonly because?: readonly string[];
  readonly next?: PodPlan['next'];
}

function table(rows: readonly Row[]): void {
  for (const { it, pod = web(), undeclared, observed, facts = {}, actions, because, next = 'on-change' } of rows) {
    test(it, () => {
      const desired = undeclared ? undefined : { pod, source: 'file' as const };
      const known = typeof facts === 'function' ? facts(pod) : facts;
      const plan = planPod(desired, anObservedPod(pod, observed?.(pod)), { ...calm, ...known });
      assert.deepEqual(plan.actions.map(say), actions);
      assert.deepEqual(plan.next, next);
      if (because) assert.deepEqual(plan.because, because);
      assert.ok(plan.because.length > 0, 'every plan says why');
    });
  }
}

const web = (spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod =>
  aPod('web', { containers: [aContainer('app'), aContainer('log')], ...spec }, metadata);
const sidecar = (name: string, over: Partial<Container> = {}): Container => aContainer(name, { restartPolicy: 'Always', ...over });
const running =
  (...names: string[]) =>
  (pod: Pod) => ({ sandboxes: [aSandbox()], containers: names.map((name) => anInstance(pod, name)) });

// Beginning
table([
  {
    it: 'a new pod gets a sandbox and all its containers, in spec order',
    actions: ['run sandbox 0', 'start app 0', 'start log 0'],
    because: ['there is no sandbox yet: a first one', 'container app has not run yet', 'container log has not run yet'],
  },
  { it: 'a pod as declared is left alone', observed: running('app', 'log'), actions: [], because: ['pod is as declared'] },
  {
    it: 'a pod whose name is taken waits',
    facts: { life: 'waiting' },
    actions: [],
    because: ['another pod holds the name web_default: this one waits for its end'],
  },
  {
    it: 'init containers run one after the other before the app containers',
    pod: web({ initContainers: [aContainer('a'), aContainer('b')] }),
    observed: (pod) => ({ sandboxes: [aSandbox()], containers: [anInstance(pod, 'a', { state: exited(0) })] }),
    actions: ['start init b 0'],
    because: ['init container b has not run yet'],
  },
  {
    it: 'app containers wait for a running init container',
    pod: web({ initContainers: [aContainer('a')] }),
    observed: running('a'),
    actions: [],
    because: ['init container a is under way: the rest waits for it'],
  },
]);

// Restarting
table([
  {
    it: 'a failed container starts again, under the next attempt',
    observed: (pod) => ({
      sandboxes: [aSandbox()],
      containers: [anInstance(pod, 'app', { attempt: 3, state: exited(1) }), anInstance(pod, 'log')],
    }),
    actions: ['start app 4'],
    because: ['container app exited with code 1 (Error): restart policy Always'],
  },
  {
    it: 'a container in back-off is left out, and the plan wakes when the earliest is over',
    observed: (pod) => ({
      sandboxes: [aSandbox()],
      containers: ['app', 'log'].map((name) => anInstance(pod, name, { state: exited(1, calm.nowMs - 5000) })),
    }),
    facts: {
      restartHold: (_, { name }) => {
        const delayMs = name === 'app' ? 40_000 : 20_000;
        return { notBeforeMs: calm.nowMs - 5000 + delayMs, delayMs };
      },
    },
    actions: [],
    because: [
      'container app waits: back-off 40s restarting failed container',
      'container log waits: back-off 20s restarting failed container',
    ],
    next: { afterMs: 15_000 },
  },
  {
    it: 'one container in back-off does not hold the others',
    observed: () => ({ sandboxes: [aSandbox()] }),
    facts: { restartHold: (_, { name }) => ({ notBeforeMs: name === 'app' ? calm.nowMs + 1 : calm.nowMs, delayMs: 10_000 }) },
    actions: ['start log 0'],
    next: { afterMs: 1 },
  },
  {
    it: 'a changed image restarts its container, and both are named',
    pod: web({ containers: [aContainer('app', { image: 'busybox:1.36' }), aContainer('log')] }),
    observed: () => running('app', 'log')(web()),
    facts: { previousPod: web() },
    actions: ['stop app-0 in 30s', 'start app 1'],
    because: ['container app is of another image: busybox:1.35 → busybox:1.36'],
  },
  {
    it: 'a failed probe may have a grace period of its own',
    pod: aPod('web', { containers: [aContainer('app', { livenessProbe: { terminationGracePeriodSeconds: 7 } }), aContainer('log')] }),
    observed: running('app', 'log'),
    facts: { liveness: (id) => (id === 'app-0' ? 'failure' : 'success') },
    actions: ['stop app-0 in 7s', 'start app 1'],
  },
  {
    it: 'a failed liveness probe restarts its container alone',
    observed: running('app', 'log'),
    facts: { liveness: (id) => (id === 'log-0' ? 'failure' : 'success') },
    actions: ['stop log-0 in 30s', 'start log 1'],
    because: ['container log failed its liveness probe'],
  },
  {
    it: 'a container whose state is unknown is stopped before it starts again',
    observed: (pod) => ({
      sandboxes: [aSandbox()],
      containers: [anInstance(pod, 'app', { state: { phase: 'unknown' } }), anInstance(pod, 'log')],
    }),
    actions: ['stop app-0 in 30s', 'start app 1'],
    because: ['container app is in an unknown state: it is stopped before it starts again'],
  },
  {
    it: 'a dead sandbox takes the containers with it: all stop, init containers begin anew',
    pod: web({ initContainers: [aContainer('a')] }),
    observed: (pod) => ({
      sandboxes: [aSandbox({ ready: false })],
      containers: [anInstance(pod, 'app'), anInstance(pod, 'log', { state: exited(137) }), anInstance(pod, 'a', { state: exited(0) })],
    }),
    actions: ['stop app-0 in 30s', 'remove a-0', 'run sandbox 1', 'start init a 1'],
    because: ['the sandbox is gone: a new one, attempt 1', 'init container a exited with code 0 (Completed): the pod starts over'],
  },
  {
    it: 'a pod that moves to the host network gets a new sandbox',
    pod: web({ hostNetwork: true }),
    observed: running('app', 'log'),
    actions: ['stop app-0 in 30s', 'stop log-0 in 30s', 'stop sandbox-0', 'run sandbox 1', 'start app 1', 'start log 1'],
    because: ["the sandbox has the pod's network, not the node's: a new one, attempt 1"],
  },
]);

for (const restartPolicy of ['Always', 'OnFailure', 'Never']) {
  table([
    {
      it: `a container that a crash left created but not started still gets its run after a reboot, restart policy ${restartPolicy}`,
      pod: aPod('web', { restartPolicy }),
      observed: (pod) => ({
        sandboxes: [aSandbox({ ready: false })],
        containers: [anInstance(pod, 'app', { state: { phase: 'created' } })],
      }),
      actions: ['run sandbox 1', 'start app 0'],
    },
  ]);
}

// Sidecars
const proxied = (over: Partial<Container> = {}): Pod =>
  web({ containers: [aContainer('app')], initContainers: [aContainer('a'), sidecar('proxy', over), sidecar('sync')] });
const initialized = (pod: Pod, ...containers: ObservedPod['containers']) => ({
  sandboxes: [aSandbox()],
  containers: [...containers, anInstance(pod, 'a', { state: exited(0) })],
});
table([
  {
    it: 'the next init container goes on once a sidecar runs',
    pod: proxied(),
    observed: (pod) => initialized(pod, anInstance(pod, 'proxy')),
    actions: ['start init sync 0'],
    because: ['sidecar sync has not run yet'],
  },
  {
    it: 'a sidecar with a startup probe holds the rest until the probe succeeds',
    pod: proxied({ startupProbe: {} }),
    observed: (pod) => initialized(pod, anInstance(pod, 'proxy')),
    actions: [],
    because: ['sidecar proxy is under way: the rest waits for it'],
  },
  {
    it: 'a started sidecar lets the rest go on',
    pod: proxied({ startupProbe: {} }),
    observed: (pod) => initialized(pod, anInstance(pod, 'proxy')),
    facts: { startup: () => 'success' },
    actions: ['start init sync 0'],
  },
  {
    it: 'a sidecar that ends while the app runs starts again, whatever the policy, and nothing else moves',
    pod: web({ ...proxied().spec, restartPolicy: 'Never' }),
    observed: (pod) => initialized(pod, anInstance(pod, 'app'), anInstance(pod, 'sync'), anInstance(pod, 'proxy', { state: exited(0) })),
    actions: ['start init proxy 1'],
    because: ['sidecar proxy exited with code 0 (Completed): sidecars always restart'],
  },
  {
    it: 'an earlier sidecar that ended during initialization starts again beside the next init container',
    pod: web({ initContainers: [sidecar('proxy'), aContainer('a'), aContainer('b')] }),
    observed: (pod) => initialized(pod, anInstance(pod, 'proxy', { state: exited(1) })),
    actions: ['start init proxy 1', 'start init b 0'],
  },
  {
    it: 'a dead sidecar does not keep app containers from restarting',
    pod: proxied(),
    observed: (pod) =>
      initialized(
        pod,
        anInstance(pod, 'app', { state: exited(1) }),
        anInstance(pod, 'sync'),
        anInstance(pod, 'proxy', { state: exited(1) }),
      ),
    actions: ['start init proxy 1', 'start app 1'],
  },
  {
    it: 'sidecars do not keep a pod from finishing',
    pod: web({ ...proxied().spec, restartPolicy: 'OnFailure' }),
    observed: (pod) => initialized(pod, anInstance(pod, 'app', { state: exited(0) }), anInstance(pod, 'sync'), anInstance(pod, 'proxy')),
    actions: ['stop sync-0 in 30s'],
    because: ['no container is left to run: restart policy OnFailure', 'sidecars end one by one, the last first'],
    next: { afterMs: 0 },
  },
  {
    it: 'a finished pod with sidecars does not begin anew while they end',
    pod: web({ ...proxied().spec, restartPolicy: 'Never' }),
    observed: (pod) => ({
      sandboxes: [aSandbox({ attempt: 1 })],
      containers: [anInstance(pod, 'sync', { state: exited(137) }), anInstance(pod, 'proxy'), anInstance(pod, 'app', { state: exited(0) })],
    }),
    actions: ['stop proxy-0 in 30s', 'stop sandbox-1'],
    because: ['no container is left to run: restart policy Never'],
  },
  {
    it: 'an ending pod stops its app containers first',
    pod: proxied(),
    observed: (pod) => initialized(pod, anInstance(pod, 'app'), anInstance(pod, 'sync'), anInstance(pod, 'proxy')),
    facts: { life: 'terminating', terminatingSinceMs: calm.nowMs },
    actions: ['stop app-0 in 30s'],
    because: ['pod is terminating', 'sidecars end after the other containers'],
    next: { afterMs: 0 },
  },
  {
    it: 'its sidecars follow in reverse order, within what is left of the grace period',
    pod: proxied(),
    observed: (pod) => initialized(pod, anInstance(pod, 'app', { state: exited(0) }), anInstance(pod, 'sync'), anInstance(pod, 'proxy')),
    facts: { life: 'terminating', terminatingSinceMs: calm.nowMs - 12_300 },
    actions: ['stop sync-0 in 18s'],
    next: { afterMs: 0 },
  },
  {
    it: 'the last sidecar and the sandbox end in one plan',
    pod: proxied(),
    observed: (pod) => initialized(pod, anInstance(pod, 'proxy')),
    facts: { life: 'terminating', terminatingSinceMs: calm.nowMs - 29_500 },
    actions: ['stop proxy-0 in 2s', 'stop sandbox-0'],
  },
  {
    it: 'once the grace period is over sidecars do not wait for one another',
    pod: proxied(),
    observed: (pod) => initialized(pod, anInstance(pod, 'sync'), anInstance(pod, 'proxy')),
    facts: { life: 'terminating', terminatingSinceMs: calm.nowMs - 30_000 },
    actions: ['stop sync-0 in 2s', 'stop proxy-0 in 2s', 'stop sandbox-0'],
  },
  {
    it: 'the former declaration tells who the sidecars of a vanished pod are',
    pod: proxied(),
    undeclared: true,
    observed: (pod) => initialized(pod, anInstance(pod, 'app'), anInstance(pod, 'proxy')),
    facts: (pod) => ({ life: 'terminating', previousPod: pod }),
    actions: ['stop app-0 in 30s'],
    next: { afterMs: 0 },
  },
]);

// Ending
table([
  {
    it: 'of a pod that nobody declares nothing stays',
    undeclared: true,
    observed: (pod) => ({
      sandboxes: [aSandbox({ attempt: 1 }), aSandbox({ ready: false })],
      containers: [anInstance(pod, 'app', { attempt: 1 }), anInstance(pod, 'app', { state: exited(1) })],
    }),
    facts: (pod) => ({ life: 'terminating', previousPod: pod }),
    actions: ['stop app-1 in 30s', 'stop sandbox-1', 'remove app-1', 'remove app-0', 'remove sandbox-1', 'remove sandbox-0'],
    because: ['pod is no longer declared by any source'],
  },
  { it: 'a pod that is gone needs nothing', undeclared: true, facts: { life: 'terminating' }, actions: [] },
  {
    it: 'a pod that nobody remembers ends with the grace period that its labels tell',
    undeclared: true,
    observed: (pod) => ({ containers: [anInstance(pod, 'app', { terminationGracePeriodSeconds: 7 }), anInstance(pod, 'log')] }),
    facts: { life: 'terminating' },
    actions: ['stop app-0 in 7s', 'stop log-0 in 2s', 'remove app-0', 'remove log-0'],
  },
  {
    it: 'a deleted pod ends with the grace period of its deletion, and keeps its dead containers until their end has been told',
    pod: web({}, { deletionTimestamp: '2020-09-13T12:27:00Z', deletionGracePeriodSeconds: 5 }),
    observed: running('app', 'log'),
    facts: { life: 'terminating', terminatingSinceMs: calm.nowMs },
    actions: ['stop app-0 in 5s', 'stop log-0 in 5s', 'stop sandbox-0'],
    because: ['pod is being deleted'],
    next: { afterMs: 0 },
  },
  {
    it: 'a deleted pod that has ended is removed whole',
    pod: web({}, { deletionTimestamp: '2020-09-13T12:27:00Z', deletionGracePeriodSeconds: 5 }),
    observed: (pod) => ({
      sandboxes: [aSandbox({ ready: false })],
      containers: [anInstance(pod, 'app', { state: exited(0) }), anInstance(pod, 'log', { state: exited(143) })],
    }),
    facts: { life: 'terminating', terminatingSinceMs: calm.nowMs },
    actions: ['remove app-0', 'remove log-0', 'remove sandbox-0'],
    because: ['pod is being deleted'],
  },
  {
    it: 'an override goes before everything, also below the minimum',
    observed: running('app'),
    facts: { life: 'terminating', end: { reason: 'Evicted', message: 'low on memory', graceSeconds: 0 } },
    actions: ['stop app-0 in 0s', 'stop sandbox-0'],
  },
  {
    it: 'a pod over its deadline stops and is not removed',
    pod: web({ activeDeadlineSeconds: 30 }),
    observed: running('app', 'log'),
    facts: { ageMs: 30_000 },
    actions: ['stop app-0 in 30s', 'stop log-0 in 30s', 'stop sandbox-0'],
    because: ['activeDeadlineSeconds 30 exceeded'],
  },
  {
    it: 'the plan wakes for the deadline',
    pod: web({ activeDeadlineSeconds: 30 }),
    observed: running('app', 'log'),
    facts: { ageMs: 29_000 },
    actions: [],
    next: { afterMs: 1000 },
  },
  {
    it: 'a pod that never started has no deadline yet',
    pod: web({ activeDeadlineSeconds: 30 }),
    observed: running('app', 'log'),
    actions: [],
  },
  {
    it: 'a finished pod gets its sandbox stopped and nothing more',
    pod: web({ restartPolicy: 'Never' }),
    observed: (pod) => ({
      sandboxes: [aSandbox()],
      containers: [anInstance(pod, 'app', { state: exited(1) }), anInstance(pod, 'log', { state: exited(0) })],
    }),
    actions: ['stop sandbox-0'],
    because: ['no container is left to run: restart policy Never'],
  },
  {
    it: 'a finished pod whose sandbox is stopped stays finished',
    pod: web({ restartPolicy: 'Never' }),
    observed: (pod) => ({
      sandboxes: [aSandbox({ ready: false })],
      containers: [anInstance(pod, 'app', { state: exited(1) }), anInstance(pod, 'log', { state: exited(0) })],
    }),
    actions: [],
  },
  {
    it: 'a pod that the API server knows as failed does not begin again on an empty engine',
    pod: { ...web(), status: { phase: 'Failed' } },
    actions: [],
    because: ['pod has failed for good'],
  },
  {
    it: 'a failed init container ends the pod under restart policy Never',
    pod: web({ restartPolicy: 'Never', initContainers: [aContainer('a')] }),
    observed: (pod) => ({ sandboxes: [aSandbox()], containers: [anInstance(pod, 'a', { state: exited(2) })] }),
    actions: ['stop sandbox-0'],
    because: ['init container a failed with code 2 (Error): restart policy Never'],
  },
]);

// Leftovers
table([
  {
    it: 'of each container the newest dead instance stays, for logs --previous; older ones go after the starts',
    observed: (pod) => ({
      sandboxes: [aSandbox()],
      containers: [
        anInstance(pod, 'log', { attempt: 5 }),
        anInstance(pod, 'log', { attempt: 4, state: exited(1) }),
        anInstance(pod, 'log', { attempt: 3, state: exited(1) }),
        anInstance(pod, 'app', { attempt: 2, state: exited(1) }),
        anInstance(pod, 'app', { attempt: 1, state: exited(1) }),
        anInstance(pod, 'app', { attempt: 0, state: { phase: 'created' } }),
      ],
    }),
    actions: ['start app 3', 'remove log-3', 'remove app-1', 'remove app-0'],
  },
  {
    it: 'an old sandbox stays as long as a container of its time does',
    observed: (pod) => ({
      sandboxes: [aSandbox({ attempt: 2 }), aSandbox({ attempt: 1, ready: false }), aSandbox({ ready: false })],
      containers: [
        anInstance(pod, 'app', { attempt: 2, createdAtMs: bootMs + 2010 }),
        anInstance(pod, 'log', { attempt: 2, createdAtMs: bootMs + 2010 }),
        anInstance(pod, 'app', { attempt: 1, createdAtMs: bootMs + 1010, state: exited(1) }),
        anInstance(pod, 'app', { attempt: 0, createdAtMs: bootMs + 10, state: exited(1) }),
      ],
    }),
    actions: ['remove app-0', 'remove sandbox-0'],
    because: ['container app has more dead instances than are kept: they are removed', 'old sandboxes without containers are removed'],
  },
  {
    it: 'what runs beside its newer instance, or is not in the spec, is stopped',
    observed: (pod) => ({
      sandboxes: [aSandbox()],
      containers: [anInstance(pod, 'app', { attempt: 1 }), anInstance(pod, 'app'), anInstance(pod, 'log'), anInstance(pod, 'debug')],
    }),
    actions: ['stop app-0 in 30s', 'stop debug-0 in 30s'],
    because: ['container app has a newer instance: the older one is stopped', "container debug is not in the pod's spec"],
  },
]);

test("a stop carries the kubelet's words for its event", () => {
  const tcpSocket = { port: 80 };
  const probed = { ...sidecar('proxy'), startupProbe: { tcpSocket }, livenessProbe: { tcpSocket } };
  const pod = web({ initContainers: [probed] });
  const words = (over: Partial<PlanFacts>, proxy: ObservedPod['containers'][number] = anInstance(pod, 'proxy')): unknown =>
    planPod(
      { pod, source: 'file' },
      anObservedPod(pod, { sandboxes: [aSandbox()], containers: [proxy, ...running('app', 'log')(pod).containers] }),
      { ...calm, ...over },
    ).actions.flatMap((action) => (action.do === 'stopContainer' ? [action.why] : []));
  const failed = (what: string) => (id: ContainerId) => (id === what ? ('failure' as const) : undefined);
  assert.deepEqual(words({ liveness: failed('app-0') }), ['Container app failed liveness probe, will be restarted']);
  const started = () => 'success' as const;
  assert.deepEqual(words({ startup: started, liveness: failed('proxy-0') }), ['Init container proxy failed liveness probe']);
  assert.deepEqual(words({ startup: failed('proxy-0') }), ['Init container proxy failed startup probe']);
  assert.deepEqual(words({ startup: started }, anInstance(pod, 'proxy', { specHash: 'old' })), ['Init container proxy definition changed']);
  assert.deepEqual(words({}, anInstance(pod, 'proxy', { state: { phase: 'unknown' } })), [
    'Init container is in "unknown" state, try killing it before restart',
  ]);
});

test('a stop says whether the container is to start again', () => {
  const pod = web({ restartPolicy: 'Never' });
  const restarts = (containers: ObservedPod['containers'], over: Partial<PlanFacts> = {}): unknown =>
    planPod({ pod, source: 'file' }, anObservedPod(pod, { sandboxes: [aSandbox()], containers }), { ...calm, ...over }).actions.flatMap(
      (action) => (action.do === 'stopContainer' ? [[action.id, action.restart]] : []),
    );
  const log = anInstance(pod, 'log');
  const old = anInstance(pod, 'app', { specHash: 'old' });
  assert.deepEqual(restarts([old, log]), [['app-0', true]]);
  assert.deepEqual(restarts([{ ...old, id: 'app-1' as ContainerId, attempt: 1 }, old, log]), [
    ['app-1', true],
    ['app-0', undefined],
  ]);
  assert.deepEqual(restarts([anInstance(pod, 'app'), log], { liveness: (id) => (id === 'app-0' ? 'failure' : undefined) }), [
    ['app-0', undefined],
  ]);
  assert.deepEqual(restarts([old, log], { life: 'terminating' }), [
    ['app-0', undefined],
    ['log-0', undefined],
  ]);
});

// CPUs
const onCpus = (cpus: Readonly<Record<string, string | undefined>>) => (pod: Pod) => ({
  sandboxes: [aSandbox()],
  containers: Object.entries(cpus).map(([name, cpuset]) => anInstance(pod, name, { cpuset })),
});
table([
  {
    it: 'running containers move to other CPUs as they are',
    observed: onCpus({ app: '0-1', log: '' }),
    facts: { cpuset: (name) => (name === 'app' ? '1' : '0') },
    actions: ['pin app-0 to 1', 'pin log-0 to 0'],
    because: ['container app runs on CPUs 1 from now on', 'container log runs on CPUs 0 from now on'],
  },
  {
    it: 'containers stay where they are to be, where nobody has a say, and where the engine does not tell',
    pod: web({ containers: [aContainer('app'), aContainer('log'), aContainer('old')] }),
    observed: onCpus({ app: '1', log: '0', old: undefined }),
    facts: { cpuset: (name) => (name === 'log' ? undefined : '1') },
    actions: [],
  },
  {
    it: 'only what runs moves to other CPUs',
    observed: (pod) => ({
      sandboxes: [aSandbox()],
      containers: [anInstance(pod, 'app', { state: exited(0), cpuset: '0' }), anInstance(pod, 'log', { cpuset: '0' })],
    }),
    facts: { cpuset: () => '1' },
    actions: ['pin log-0 to 1', 'start app 1'],
  },
  {
    it: 'what is about to be stopped stays where it is',
    observed: onCpus({ app: '0', log: '0' }),
    facts: { cpuset: () => '1', liveness: (id) => (id === 'app-0' ? 'failure' : undefined) },
    actions: ['stop app-0 in 30s', 'pin log-0 to 1', 'start app 1'],
  },
]);
