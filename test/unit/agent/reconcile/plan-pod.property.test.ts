import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isSidecar } from '../../../../src/model/pod-predicates.ts';
import type { Container, Pod } from '../../../../src/model/pod.ts';
import type {
  ContainerId,
  ContainerState,
  ObservedContainer,
  ObservedPod,
  ObservedSandbox,
  SandboxId,
} from '../../../../src/ports/container-runtime.ts';
import type { PlanFacts, PodAction, PodPlan } from '../../../../src/ports/pod-plan.ts';
import { planPod } from '../../../../src/agent/reconcile/plan-pod.ts';
import { sandboxChanged } from '../../../../src/agent/reconcile/sandbox-changed.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { anInstance, anObservedPod, aSandbox, bootMs, exited } from '../../../builders/an-observed-pod.ts';

/** An engine of one pod, in memory: carries out actions, and minds what no plan may ask for. */
class TinyEngine {
  readonly pod: Pod;
  nowMs = bootMs + 1_000_000;
  sandboxes: ObservedSandbox[];
  containers: ObservedContainer[];
  readonly #owners = new Map<ContainerId, SandboxId | undefined>();
  #ids = 0;

  constructor(pod: Pod, sandboxes: readonly ObservedSandbox[], containers: readonly ObservedContainer[]) {
    this.pod = pod;
    this.sandboxes = [...sandboxes];
    this.containers = [...containers];
    for (const { id, createdAtMs } of containers) this.#owners.set(id, sandboxes.find((one) => one.createdAtMs <= createdAtMs)?.id);
  }

  observe(): ObservedPod {
    return anObservedPod(this.pod, { sandboxes: [...this.sandboxes], containers: [...this.containers] });
  }

  apply(action: PodAction): void {
    this.nowMs += 1000;
    switch (action.do) {
      case 'runSandbox': {
        assert.ok(!this.sandboxes.some(({ ready }) => ready), 'a pod has one sandbox at a time');
        assert.ok(!this.containers.some(({ state }) => state.phase === 'running'), 'nothing runs outside the new sandbox');
        const network = this.pod.spec.hostNetwork ? 'node' : 'pod';
        this.sandboxes.unshift(
          aSandbox({ id: `new-${this.#ids++}` as SandboxId, attempt: action.attempt, createdAtMs: this.nowMs, network }),
        );
        return;
      }
      case 'startContainer': {
        const own = this.containers.filter(({ name }) => name === action.name);
        assert.ok(!own.some(({ state }) => state.phase === 'running' || state.phase === 'unknown'), `${action.name} would run twice`);
        const unstarted = own.find(({ attempt, state }) => attempt === action.attempt && state.phase === 'created');
        assert.ok(
          own.every((one) => one === unstarted || one.attempt < action.attempt),
          'attempts only grow',
        );
        // What never ran is started or replaced: its name is its attempt's.
        this.containers = this.containers.filter((one) => one !== unstarted);
        const sandbox = this.sandboxes[0];
        assert.ok(sandbox?.ready, 'a container needs a sandbox');
        const id = `new-${this.#ids++}` as ContainerId;
        this.#owners.set(id, sandbox.id);
        const state: ContainerState = { phase: 'running', startedAtMs: this.nowMs };
        this.containers.unshift(anInstance(this.pod, action.name, { id, attempt: action.attempt, createdAtMs: this.nowMs, state }));
        return;
      }
      case 'stopContainer':
        this.end(action.id, 137);
        return;
      case 'stopSandbox':
        this.sandboxes = this.sandboxes.map((sandbox) => (sandbox.id === action.id ? { ...sandbox, ready: false } : sandbox));
        return;
      case 'removeContainer':
        assert.ok(
          !this.containers.some(({ id, state }) => id === action.id && state.phase === 'running'),
          'only what has ended is removed',
        );
        this.containers = this.containers.filter(({ id }) => id !== action.id);
        return;
      case 'removeSandbox':
        assert.ok(!this.containers.some(({ id }) => this.#owners.get(id) === action.id), 'a sandbox outlives its containers');
        this.sandboxes = this.sandboxes.filter(({ id }) => id !== action.id);
        return;
      case 'admit':
      case 'resize':
      case 'prepare':
      case 'updateContainer':
      case 'pinContainer':
      case 'tearDown':
      case 'release':
        assert.fail(`${action.do} is not one of planPod's actions`);
        return;
      default:
        action satisfies never;
    }
  }

  end(id: ContainerId, exitCode: number): void {
    this.containers = this.containers.map((one) => (one.id === id ? { ...one, state: exited(exitCode, this.nowMs) } : one));
  }

  /** Init containers do their work while nobody looks. */
  finishInitContainers(): boolean {
    const plain = new Set((this.pod.spec.initContainers ?? []).filter((one) => !isSidecar(one)).map(({ name }) => name));
    const busy = this.containers.filter(({ name, state }) => plain.has(name) && state.phase === 'running');
    for (const { id } of busy) this.end(id, 0);
    return busy.length > 0;
  }
}

const inits = fc.subarray([
  aContainer('i'),
  aContainer('s', { restartPolicy: 'Always' }),
  aContainer('j'),
  aContainer('t', { restartPolicy: 'Always' }),
]);
const apps = fc.subarray([aContainer('a'), aContainer('b')], { minLength: 1 });
const pods = fc
  .record({
    initContainers: inits,
    containers: apps,
    restartPolicy: fc.constantFrom('Always', 'OnFailure', 'Never'),
    hostNetwork: fc.boolean(),
  })
  .map((spec) => aPod('p', spec));

const states: fc.Arbitrary<ContainerState> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<ContainerState>({ phase: 'running', startedAtMs: bootMs }) },
  { weight: 3, arbitrary: fc.constantFrom(0, 1, 137).map((code) => exited(code)) },
  { weight: 1, arbitrary: fc.constantFrom<ContainerState>({ phase: 'created' }, { phase: 'unknown' }) },
);
const instances = fc.array(
  fc.record({
    name: fc.constantFrom('i', 's', 'j', 't', 'a', 'b', 'stray'),
    state: states,
    changed: fc.boolean(),
    atMs: fc.integer({ min: 0, max: 5000 }),
  }),
  { maxLength: 10 },
);
const sandboxes = fc.array(
  fc.record({ ready: fc.boolean(), network: fc.constantFrom('pod' as const, 'node' as const), ip: fc.boolean() }),
  { maxLength: 3 },
);

const engines = fc.record({ pod: pods, instances, sandboxes }).map(({ pod, instances, sandboxes }) => {
  const newestFirst = [...instances].sort((one, other) => other.atMs - one.atMs);
  const attempts = new Map<string, number>();
  const oldestFirst = newestFirst.toReversed().map(({ name, state, changed, atMs }, index) => {
    const attempt = attempts.get(name) ?? 0;
    attempts.set(name, attempt + 1);
    const id = `${name}-${index}` as ContainerId;
    return anInstance(pod, name, { id, attempt, state, createdAtMs: bootMs + atMs, ...(changed ? { specHash: 'old' } : {}) });
  });
  const oldestSandboxes = sandboxes.map(({ ready, network, ip }, attempt) =>
    aSandbox({ attempt, ready, network, ips: ip ? ['10.0.0.2'] : [] }),
  );
  return new TinyEngine(pod, oldestSandboxes.reverse(), oldestFirst.reverse());
});

const facts = fc.record({
  held: fc.dictionary(fc.constantFrom('i', 's', 'a', 'b'), fc.integer({ min: 0, max: 300_000 })),
  sick: fc.boolean(),
});

function factsAt(
  engine: TinyEngine,
  { held, sick }: { readonly held: Record<string, number>; readonly sick: boolean },
  over: Partial<PlanFacts>,
): PlanFacts {
  return {
    nowMs: engine.nowMs,
    life: 'syncing',
    restartHold: (_, { name }: Container) =>
      held[name] === undefined ? undefined : { notBeforeMs: bootMs + 1_000_000 + held[name], delayMs: held[name] },
    // Only what was there before fails; what is started anew is well.
    liveness: (id) => (sick && id.startsWith('a-') ? 'failure' : 'success'),
    startup: () => undefined,
    ...over,
  };
}

/** Plans and acts until nothing is left to do. `check` sees every plan before it is carried out. */
function settle(
  engine: TinyEngine,
  desired: Pod | undefined,
  facts: () => PlanFacts,
  check: (plan: PodPlan, observed: ObservedPod, facts: PlanFacts) => void = () => {},
): PodPlan {
  for (let round = 0; round < 40; round++) {
    const observed = engine.observe();
    const now = facts();
    const plan = planPod(desired ? { pod: desired, source: 'file' } : undefined, observed, now);
    check(plan, observed, now);
    for (const action of plan.actions) engine.apply(action);
    if (plan.next !== 'on-change') engine.nowMs += plan.next.afterMs;
    const idle = plan.actions.length === 0 && plan.next === 'on-change';
    if (!engine.finishInitContainers() && idle) return plan;
  }
  return assert.fail(`no end in sight: ${JSON.stringify(engine.observe())}`);
}

const runs = { numRuns: 500 };

test('from any state a declared pod settles: as its spec says, or finished for good', () => {
  fc.assert(
    fc.property(engines, facts, (engine, known) => {
      settle(engine, engine.pod, () => factsAt(engine, known, {}));
      const { spec } = engine.pod;
      const { sandboxes, containers } = engine.observe();
      const runs = containers.filter(({ state }) => state.phase === 'running');
      const names = runs.map(({ name }) => name).sort();
      const apps = spec.containers.map(({ name }) => name);
      const sidecars = (spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name);
      if (spec.restartPolicy === 'Always') assert.deepEqual(names, [...apps, ...sidecars].sort());
      if (runs.length === 0) {
        assert.ok(!sandboxes.some(({ ready }) => ready), 'a finished pod keeps no sandbox');
        return;
      }
      assert.equal(sandboxes.filter(({ ready }) => ready).length, 1);
      assert.deepEqual(
        names,
        [...names.filter((name) => apps.includes(name)), ...sidecars].sort(),
        'sidecars run as long as an app container does',
      );
      assert.ok(!containers.some(({ name, state, specHash }) => state.phase === 'running' && specHash === 'old' && apps.includes(name)));
      for (const name of new Set(containers.map((one) => one.name))) {
        assert.ok(containers.filter((one) => one.name === name && one.state.phase === 'exited').length <= 1, `${name} has leftovers`);
      }
    }),
    runs,
  );
});

test('from any state an undeclared pod vanishes', () => {
  fc.assert(
    fc.property(engines, fc.boolean(), (engine, remembered) => {
      const previousPod = remembered ? engine.pod : undefined;
      settle(engine, undefined, () => factsAt(engine, { held: {}, sick: false }, { life: 'terminating', previousPod }));
      const { sandboxes, containers } = engine.observe();
      assert.deepEqual({ sandboxes, containers }, { sandboxes: [], containers: [] });
    }),
    runs,
  );
});

test('a terminating pod ends, its sidecars after everything else and in reverse order, and how each container ended stays to be read', () => {
  fc.assert(
    fc.property(engines, (engine) => {
      const order = new Map((engine.pod.spec.initContainers ?? []).filter(isSidecar).map(({ name }, index) => [name, index]));
      const names = new Set(engine.containers.filter(({ state }) => state.phase !== 'created').map(({ name }) => name));
      settle(
        engine,
        engine.pod,
        () => factsAt(engine, { held: {}, sick: false }, { life: 'terminating' }),
        (plan, { containers }) => {
          const stopped = new Set(plan.actions.flatMap((action) => (action.do === 'stopContainer' ? [action.id] : [])));
          const live = containers.filter(({ state }) => state.phase === 'running');
          const inTurn = live.filter(({ id, name }) => stopped.has(id) && order.has(name)).map(({ name }) => order.get(name) ?? 0);
          if (inTurn.length === 0) return;
          assert.ok(
            live.every(({ name }) => order.has(name)),
            'other containers end first',
          );
          assert.equal(new Set(inTurn).size, 1);
          assert.ok(live.every(({ name }) => (order.get(name) ?? 0) <= Math.max(...inTurn)));
        },
      );
      assert.ok(!engine.containers.some(({ state }) => state.phase === 'running'));
      assert.ok(!engine.sandboxes.some(({ ready }) => ready));
      assert.deepEqual(new Set(engine.containers.map(({ name }) => name)), names);
    }),
    runs,
  );
});

test('no plan stops a healthy container to start it again, nor stops one at all while its pod goes on', () => {
  fc.assert(
    fc.property(engines, facts, (engine, known) => {
      const declared = new Map([...(engine.pod.spec.initContainers ?? []), ...engine.pod.spec.containers].map((one) => [one.name, one]));
      settle(
        engine,
        engine.pod,
        () => factsAt(engine, known, {}),
        (plan, observed, facts) => {
          if (sandboxChanged(engine.pod, observed).because !== undefined) return;
          const healthy = observed.containers.filter(
            ({ id, name, state, specHash }, index) =>
              state.phase === 'running' &&
              specHash !== 'old' &&
              facts.liveness(id) !== 'failure' &&
              declared.has(name) &&
              observed.containers.findIndex((one) => one.name === name) === index,
          );
          const started = new Set(plan.actions.flatMap((action) => (action.do === 'startContainer' ? [action.name] : [])));
          const stopped = new Set(plan.actions.flatMap((action) => (action.do === 'stopContainer' ? [action.id] : [])));
          for (const { id, name } of healthy) {
            assert.ok(!started.has(name), `${name} runs well and would be started`);
            if (stopped.has(id)) assert.equal(started.size, 0, `${name} runs well and would be stopped`);
          }
        },
      );
    }),
    runs,
  );
});

test('a plan is a value: the same facts give the same plan', () => {
  fc.assert(
    fc.property(engines, facts, (engine, known) => {
      const plan = (): PodPlan => planPod({ pod: engine.pod, source: 'file' }, engine.observe(), factsAt(engine, known, {}));
      assert.deepEqual(plan(), plan());
    }),
    { numRuns: 100 },
  );
});
