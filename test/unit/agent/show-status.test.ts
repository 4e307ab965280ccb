import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodMemory } from '../../../src/agent/reconcile/pod-memory.ts';
import { RestartBackoff } from '../../../src/agent/reconcile/restart-backoff.ts';
import { showStatus } from '../../../src/agent/show-status.ts';
import { PodStatusManager } from '../../../src/agent/status/status-manager.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { Pod, PodCondition } from '../../../src/model/pod.ts';
import type { ProbeResult } from '../../../src/model/probe-result.ts';
import type { EngineFeatures } from '../../../src/ports/engine-features.ts';
import type { ObservedPod } from '../../../src/ports/container-runtime.ts';
import type { PodEnd } from '../../../src/ports/pod-ends.ts';
import type { PodCgroup, ResourceHealthByContainer } from '../../../src/ports/pod-participant.ts';
import { noProbes } from '../../../src/agent/gather.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { anInstance, anObservedPod, aSandbox, exited } from '../../builders/an-observed-pod.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const web = aPod('web', { containers: [aContainer('app')], activeDeadlineSeconds: 3_600 });
const { uid } = web.metadata;
const look = (over: Partial<ObservedPod> = {}): ObservedPod =>
  anObservedPod(web, { sandboxes: [aSandbox()], containers: [anInstance(web, 'app')], ...over });

/** A pod that is looked at, with all that its status is made of. */
class Scene {
  readonly clock = new FakeClock();
  readonly memory = new PodMemory();
  readonly backoff = new RestartBackoff(this.clock);
  readonly statuses = new PodStatusManager({ clock: this.clock, log: silentLogger, apiStatusOf: () => undefined });
  pod: Pod = web;
  readiness: ProbeResult | undefined;
  startup: ProbeResult | undefined;
  isOpen = false;
  conditions: readonly PodCondition[] = [];
  tellsResources = false;
  cgroup: PodCgroup | undefined;
  health: readonly ResourceHealthByContainer[] = [];
  end: PodEnd | undefined;
  features: EngineFeatures | undefined;
  fault: Error | undefined;
  /** How often a status was worked out. */
  made = 0;
  readonly #show: ReturnType<typeof showStatus>;

  constructor(tellsReadyToStart = true) {
    this.#show = showStatus({
      clock: this.clock,
      statuses: {
        get: (of) => this.statuses.get(of),
        set: (pod, status) => {
          this.made++;
          this.statuses.set(pod, status);
        },
      },
      events: { record: () => {} },
      probes: { ...noProbes, readiness: () => this.readiness, startup: () => this.startup },
      memory: this.memory,
      backoff: this.backoff,
      admissions: { refusalOf: () => undefined, isOpen: () => this.isOpen },
      participants: { cgroup: () => this.cgroup, resourceHealth: () => this.health },
      resizes: { look: (_pod, observed) => this.#found(observed), conditionsOf: () => this.conditions, freed: () => {} },
      tellsHealth: true,
      tellsResources: () => this.tellsResources,
      ends: { of: () => this.end },
      tellsReadyToStart,
      hostIps: ['192.0.2.7'],
      engine: { name: 'fake', lastFeatures: () => this.features },
    });
    this.look();
    this.look();
    this.made = 0;
  }

  #found(observed: ObservedPod): ObservedPod {
    if (this.fault) throw this.fault;
    return observed;
  }

  /** How often a status was worked out for it. */
  look(observed = look()): number {
    const before = this.made;
    const seen = this.memory.asSeen(observed);
    this.backoff.seen(seen);
    this.memory.noteLook(this.pod, seen, this.clock);
    this.#show({ pod: this.pod, source: 'file' }, seen);
    return this.made - before;
  }
}

test('the status of a pod that is as it was is not worked out again', () => {
  const scene = new Scene();
  assert.equal(scene.look(), 0);
  assert.equal(scene.look(structuredClone(look())), 0);
  assert.equal(scene.statuses.get(uid)?.phase, 'Running');
});

const changes: Readonly<Record<string, (scene: Scene) => void>> = {
  'another declaration': (scene) => (scene.pod = structuredClone(web)),
  'a probe that found the container ready': (scene) => (scene.readiness = 'success'),
  'a probe that found it started': (scene) => (scene.startup = 'success'),
  'admission that is open again': (scene) => (scene.isOpen = true),
  'resources that are reported': (scene) => (scene.tellsResources = true),
  'an end': (scene) => (scene.end = { reason: 'Evicted', message: 'no memory', graceSeconds: 0 }),
  'an engine that tells of its handlers': (scene) =>
    (scene.features = {
      handlers: [{ name: '', recursiveReadOnly: true, userNamespaces: false }],
      supplementalGroupsPolicy: false,
      imageVolumes: 'never',
    }),
  'a status that another has changed': (scene) => scene.statuses.amend(uid, (_pod, status) => ({ ...status, reason: 'Another' })),
  'something that was done to the pod': (scene) => scene.memory.noteActed(uid),
};

for (const [what, change] of Object.entries(changes)) {
  test(`the status is worked out again after ${what}, and then rests`, () => {
    const scene = new Scene();
    change(scene);
    assert.equal(scene.look(), 1);
    // What it was made of includes the status before it.
    scene.look();
    assert.equal(scene.look(), 0);
  });
}

test('it is worked out again when the cgroup of the pod is set otherwise', () => {
  const scene = new Scene();
  scene.tellsResources = true;
  scene.look();
  scene.look();
  scene.cgroup = { cpuShares: 2, cpuQuota: -1, cpuPeriod: 100_000, memory: 0 };
  assert.equal(scene.look(), 1);
});

test('it is worked out again when another thing was found, and again when the pod is over its deadline', async () => {
  const scene = new Scene();
  assert.equal(scene.look(look({ sandboxes: [aSandbox({ ips: ['10.0.0.9'] })] })), 1);
  assert.equal(scene.statuses.get(uid)?.podIP, '10.0.0.9');
  scene.look();
  scene.look();
  assert.equal(scene.look(), 0);
  await scene.clock.advance(3_600_000);
  assert.equal(scene.look(), 1);
});

test('it is worked out again when a device of the pod does otherwise', () => {
  const scene = new Scene();
  const shown = (): unknown => scene.statuses.get(uid)?.containerStatuses?.[0]?.allocatedResourcesStatus;
  const of = (health: string): ResourceHealthByContainer => ({
    app: [{ name: 'example.com/gpu', resources: [{ resourceID: 'gpu-0', health }] }],
  });
  scene.health = [of('Healthy')];
  for (let i = 0; i < 3; i++) scene.look();
  assert.equal(scene.look(), 0);
  assert.deepEqual(shown(), scene.health[0]?.['app']);
  scene.health = [of('Unhealthy'), { other: [] }];
  assert.equal(scene.look(), 1);
  assert.deepEqual(shown(), [{ name: 'example.com/gpu', resources: [{ resourceID: 'gpu-0', health: 'Unhealthy' }] }]);
});

test('it is worked out at each look while a container waits, or a resize does', () => {
  const scene = new Scene();
  scene.memory.containerFailed(uid, 'app', { reason: 'ErrImagePull', message: 'no such image' });
  const crashed = look({ containers: [anInstance(web, 'app', { state: exited(1) })] });
  assert.deepEqual([scene.look(crashed), scene.look(crashed), scene.look(crashed)], [1, 1, 1]);
  scene.memory.containerStarted(uid, 'app');
  for (let i = 0; i < 3; i++) scene.look();
  assert.equal(scene.look(), 0);
  scene.conditions = [{ type: 'PodResizeInProgress', status: 'True' }];
  assert.deepEqual([scene.look(), scene.look()], [1, 1]);
});

test('a status that could not be worked out is worked out at the next look', () => {
  const scene = new Scene();
  scene.pod = structuredClone(web);
  scene.fault = new Error('the disk is full');
  assert.throws(() => scene.look(), scene.fault);
  scene.fault = undefined;
  assert.equal(scene.look(), 1);
});

test('whether the sandbox is there is shown, unless the gate for that is off', () => {
  const shownBy = (scene: Scene): readonly string[] => scene.statuses.get(uid)?.conditions?.map(({ type }) => type) ?? [];
  assert.ok(shownBy(new Scene()).includes('PodReadyToStartContainers'));
  assert.ok(!shownBy(new Scene(false)).includes('PodReadyToStartContainers'));
});
