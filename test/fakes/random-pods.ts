import type { Subscription } from 'rxjs';
import { containerHash } from '../../src/model/container-hash.ts';
import { isSidecar } from '../../src/model/pod-predicates.ts';
import type { Container, Pod, PodSpec, PodUid } from '../../src/model/pod.ts';
import { aPodThat, server, sidecar, worker } from '../builders/pods-that.ts';
import type { FakeClock } from './fake-clock.ts';
import { type Name, names, type Step } from './random-steps.ts';
import { type Moment, Scenario } from './scenario.ts';

/** How a pod of this shape is found once nothing has happened for long. */
type End = 'runs' | 'loops' | 'succeeded' | 'failed' | 'finished';

interface Shape {
  readonly end: End;
  readonly spec: Partial<PodSpec>;
  readonly behaviours?: Readonly<Record<string, string>>;
}

/** Deaf containers have short grace periods, so that their ends are seen. */
const shapes: readonly Shape[] = [
  { end: 'runs', spec: {} },
  {
    end: 'runs',
    spec: { containers: [server('app'), server('deaf')], terminationGracePeriodSeconds: 5 },
    behaviours: { deaf: 'term=ignore' },
  },
  { end: 'runs', spec: { initContainers: [worker('init', 1), sidecar('proxy'), worker('check', 1)] } },
  { end: 'finished', spec: { restartPolicy: 'Never', containers: [worker('app', 5)] } },
  { end: 'succeeded', spec: { restartPolicy: 'OnFailure' }, behaviours: { app: 'exit=1,1,0 after=2s' } },
  { end: 'loops', spec: {}, behaviours: { app: 'exit=1 after=3s' } },
  { end: 'failed', spec: { restartPolicy: 'Never', initContainers: [worker('init', 1, 1)] } },
  {
    end: 'succeeded',
    spec: { restartPolicy: 'OnFailure', initContainers: [sidecar('proxy')], containers: [worker('app', 3), server('other')] },
    behaviours: { other: 'exit=1,0 after=1s' },
  },
  { end: 'failed', spec: { activeDeadlineSeconds: 20 } },
  { end: 'runs', spec: { restartPolicy: 'OnFailure', containers: [server('app'), server('other')] } },
  {
    end: 'runs',
    spec: { initContainers: [sidecar('s1'), sidecar('s2')], terminationGracePeriodSeconds: 3 },
    behaviours: { app: 'term=ignore', s1: 'term=ignore' },
  },
];

/** Long enough for every back-off and deadline to be over. */
const HEALED_MS = 30 * 60_000;
/** The longest back-off, one run, and some slack. */
const LOOP_MS = 320_000;

/** Pods of random shapes on the whole agent, with the promises that hold at every moment. */
export class RandomPods {
  /** Promises that were broken, with the moment. */
  readonly broken: string[] = [];
  readonly #it = new Scenario();
  readonly #shift: number;
  readonly #declared = new Map<Name, { readonly pod: Pod; readonly shape: Shape }>();
  /** Undeclared while something of them was there, and the agent saw it. */
  readonly #ending = new Set<PodUid>();
  readonly #finished = new Set<PodUid>();
  #statuses: Subscription | undefined;
  #spoke = false;
  #observedBefore = 0;
  #agents = 0;

  constructor(shift: number) {
    this.#shift = shift;
    this.#it.onMoment = (moment) => this.#check(moment);
    this.#begin();
    this.#speak();
  }

  get clock(): FakeClock {
    return this.#it.clock;
  }

  async take(step: Step): Promise<void> {
    const { controls } = this.#it.engine;
    switch (step.do) {
      case 'declare':
        this.#undeclare(step.name, `${step.name}${step.version}` as PodUid);
        this.#declared.set(step.name, this.#make(step.name, step.version, step.marker));
        this.#speak();
        return;
      case 'remove':
        this.#undeclare(step.name);
        this.#speak();
        return;
      case 'kill': {
        const running = this.#it.world().filter(({ state }) => state.phase === 'running');
        const victim = running[step.nth % running.length];
        if (victim) controls.kill(victim.id, { exitCode: step.exitCode });
        return;
      }
      case 'restart engine':
        controls.restart(step);
        return;
      case 'fault':
        if (step.kind === 'fail') controls.fail(step.verb, undefined, step.times);
        else if (step.kind === 'lose') controls.loseAnswer(step.verb, step.times);
        else controls.hang(step.verb, step.times);
        return;
      case 'drop hints':
        controls.dropHints(step.drop);
        return;
      case 'restart agent':
        this.#statuses?.unsubscribe();
        await this.#it.stopAgent();
        this.#spoke = false;
        this.#ending.clear();
        // A pod that began long before its first sandbox has a little time left for a new agent.
        for (const { pod } of this.#declared.values())
          if (pod.spec.activeDeadlineSeconds !== undefined) this.#finished.delete(pod.metadata.uid);
        await this.#wait(step.awayMs);
        this.#begin();
        await this.#wait(step.silentMs);
        this.#speak();
        return;
      case 'set the date':
        this.clock.moveDate(step.byMs);
        return;
      case 'wait':
        await this.#wait(step.ms);
        return;
      default:
        step satisfies never;
    }
  }

  /** Takes back all faults and lets time pass. */
  async heal(): Promise<void> {
    this.#it.engine.controls.heal();
    await this.#wait(1);
    await this.#it.advance(HEALED_MS);
  }

  /** How the engine differs from what the manifests say. */
  faults(): readonly string[] {
    const uids = new Set(Array.from(this.#declared.values(), ({ pod }) => pod.metadata.uid));
    const strays = this.#it.world().filter(({ uid }) => !uids.has(uid));
    return [
      ...strays.map(({ uid, name, state }) => `${uid}/${name} is ${state.phase}, though nobody declares it`),
      ...[...this.#declared.values()].flatMap(({ pod, shape }) => this.#podFaults(pod, shape)),
    ];
  }

  async close(): Promise<void> {
    this.#statuses?.unsubscribe();
    await this.#it.close();
  }

  #make(name: Name, version: number, marker: number): { readonly pod: Pod; readonly shape: Shape } {
    const shape = shapes[(this.#shift + names.indexOf(name) * 3 + version) % shapes.length] ?? assertShape();
    const withMarker = (container: Container): Container => ({ ...container, env: [{ name: 'MARKER', value: String(marker) }] });
    const pod = aPodThat(name, shape.spec, shape.behaviours, { uid: `${name}${version}` as PodUid });
    const { initContainers, containers } = pod.spec;
    const inits = initContainers ? { initContainers: initContainers.map((one) => (isSidecar(one) ? withMarker(one) : one)) } : {};
    return { shape, pod: { ...pod, spec: { ...pod.spec, ...inits, containers: containers.map(withMarker) } } };
  }

  /** What is declared anew may begin anew. */
  #undeclare(name: Name, successor?: PodUid): void {
    const uid = this.#declared.get(name)?.pod.metadata.uid;
    if (uid === undefined || uid === successor) return;
    this.#declared.delete(name);
    this.#finished.delete(uid);
  }

  #begin(): void {
    this.#agents++;
    this.#observedBefore = this.#it.engine.controls.calls('observePod');
    this.#statuses = this.#it.agent.statuses.changes.subscribe(({ pod, status }) => {
      const { uid } = pod.metadata;
      if (this.#isDeclared(uid) && (status.phase === 'Succeeded' || status.phase === 'Failed')) this.#finished.add(uid);
    });
  }

  #speak(): void {
    this.#spoke = true;
    this.#it.declare(...Array.from(this.#declared.values(), ({ pod }) => pod));
  }

  async #wait(ms: number): Promise<void> {
    await this.#it.advance(0);
    // An agent that has just begun looks at no pod before it knows what the engine has.
    if (this.#spoke && this.#it.engine.controls.calls('observePod') > this.#observedBefore) {
      for (const { uid } of this.#it.world()) if (!this.#isDeclared(uid)) this.#ending.add(uid);
    }
    await this.#it.advance(ms);
  }

  #isDeclared(uid: PodUid): boolean {
    return [...this.#declared.values()].some(({ pod }) => pod.metadata.uid === uid);
  }

  #check({ what, part, atMs }: Moment): void {
    const { uid, podName, name, role } = part;
    const world = this.#it.world();
    if (what === 'removed' && !world.some((other) => other.uid === uid)) {
      this.#ending.delete(uid);
      this.#finished.delete(uid);
    }
    if (what !== 'started') return;
    const broken = (promise: string): void => void this.broken.push(`${atMs} ms: ${uid}/${name} started: ${promise}`);
    const running = world.filter(({ state }) => state.phase === 'running');
    if (running.filter((other) => other.uid === uid && other.name === name).length > 1) broken('it runs twice');
    if (role.kind === 'sandbox') return;
    const rivals = running.filter((other) => other.podName === podName && other.uid !== uid && other.role.kind === 'container');
    if (rivals.length > 0) broken(`the pod ${rivals[0]?.uid} of the same name runs`);
    if (!this.#isDeclared(uid)) broken('nobody declares it');
    if (this.#ending.has(uid)) broken('its pod is ending');
    if (this.#finished.has(uid)) broken('its pod has finished');
  }

  #podFaults(pod: Pod, { end }: Shape): readonly string[] {
    const { uid } = pod.metadata;
    const own = this.#it.world().filter((part) => part.uid === uid);
    const running = own.filter(({ state }) => state.phase === 'running');
    const faults: string[] = [];
    const say = (fault: string): void => void faults.push(`${uid} (${end}, ${this.#it.status(pod)?.phase}): ${fault}`);
    const all = [...(pod.spec.initContainers ?? []).filter(isSidecar), ...pod.spec.containers];
    const runningNames = running.map(({ name }) => name).sort();
    // A new agent cannot tell a container that its predecessor stopped from one that has done its work.
    if (this.#agents > 1 && end === 'runs' && pod.spec.restartPolicy === 'OnFailure') return [];
    const expected = end === 'runs' ? ['POD', ...all.map(({ name }) => name)].sort() : [];
    if (end === 'loops') {
      const sinceMs = this.clock.monotonicMs() - LOOP_MS;
      if (!this.#it.history.some((m) => m.part.uid === uid && m.what === 'started' && m.atMs >= sinceMs)) say('is not tried any more');
      if (!runningNames.includes('POD')) say('has no sandbox');
    } else if (runningNames.join() !== expected.join()) say(`[${runningNames.join()}] run, not [${expected.join()}]`);
    for (const part of running) {
      const container = all.find((one) => one.name === part.name);
      if (part.role.kind === 'container' && container && part.role.specHash !== containerHash(container))
        say(`${part.name} has an old spec`);
    }
    for (const name of new Set(own.map((part) => part.name))) {
      const dead = own.filter((part) => part.name === name && part.state.phase !== 'running');
      if (name !== 'POD' && dead.length > 1) say(`${dead.length} dead instances of ${name} are left`);
    }
    const dated = pod.spec.activeDeadlineSeconds === undefined ? 0 : 1;
    const sandboxesNeeded = own.filter(({ role, state }) => role.kind === 'container' && state.phase !== 'running').length + 1 + dated;
    if (own.filter(({ role }) => role.kind === 'sandbox').length > sandboxesNeeded) say('old sandboxes are left');
    const phase = this.#it.status(pod)?.phase;
    const phases = {
      runs: ['Running'],
      loops: ['Running'],
      succeeded: ['Succeeded'],
      failed: ['Failed'],
      finished: ['Succeeded', 'Failed'],
    }[end];
    if (!phases.includes(phase ?? '')) say('has the wrong phase');
    return faults;
  }
}

function assertShape(): never {
  throw new Error('no shape');
}
