import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.ts';
import type { FakeEngine } from '../../src/engines/fake/fake-engine.ts';
import { fakeEngine } from '../../src/engines/fake/fake-engine.ts';
import type { ResourceList } from '../../src/model/node.ts';
import type { Pod, PodStatus, SourceName } from '../../src/model/pod.ts';
import type { KubeletOptions } from '../../src/options/kubelet-options.ts';
import type { NodeParts } from '../../src/ports/node-parts.ts';
import type { ReconcileRecord } from '../../src/ports/pod-plan.ts';
import type { OutOfDate } from '../../src/ports/pod-participant.ts';
import { podFilesInMemory } from '../builders/node-parts.ts';
import { type AgentOnFakeEngine, agentOnFakeEngine, type ClusterOfAgent } from './agent-on-fake-engine.ts';
import { FakeClock } from './fake-clock.ts';

type Part = ReturnType<FakeEngine['controls']['world']>[number];

/** One thing that happened in the engine. */
export interface Moment {
  readonly atMs: number;
  readonly part: Part;
  readonly what: 'created' | 'started' | 'ended' | 'removed';
}

/** An engine, a clock, and the agent of the moment on them; what happened in the engine is written down. */
export class Scenario {
  readonly clock = new FakeClock();
  readonly engine: FakeEngine;
  readonly history: Moment[] = [];
  readonly source: SourceName = 'file';
  /** Other than the defaults. */
  readonly options: Partial<KubeletOptions> = {};
  /** What the node has for pods; undefined: that is not known. */
  allocatable: ResourceList | undefined;
  /** What its agents keep of pods. */
  readonly podFiles: NodeParts['podFiles'] = podFilesInMemory();
  /** Of the pods' volumes: throws what the preparing rejects with. */
  volumes: () => OutOfDate | undefined = () => undefined;
  /** Called with each moment as it comes. */
  onMoment: (moment: Moment) => void = () => {};
  #agent: AgentOnFakeEngine | undefined;
  readonly #cluster: ClusterOfAgent | undefined;

  /** `asAgentsFindIt`: the engine, with something in between. */
  constructor(cluster?: ClusterOfAgent, asAgentsFindIt: (engine: FakeEngine) => FakeEngine = (engine) => engine) {
    this.#cluster = cluster;
    this.engine = asAgentsFindIt(fakeEngine({ clock: this.clock, log: silentLogger }));
    const phases = new Map<string, string>();
    this.engine.controls.changes.subscribe(({ part, gone }) => {
      // Other resources are no moment of a container's life.
      if (!gone && phases.get(part.id) === part.state.phase) return;
      phases.set(part.id, part.state.phase);
      const what = gone
        ? 'removed'
        : ({ created: 'created', running: 'started', exited: 'ended', unknown: 'ended' } as const)[part.state.phase];
      const moment: Moment = { atMs: this.clock.monotonicMs(), part, what };
      this.history.push(moment);
      this.onMoment(moment);
    });
  }

  get agent(): AgentOnFakeEngine {
    return (this.#agent ??= agentOnFakeEngine({
      options: this.options,
      clock: this.clock,
      engine: this.engine,
      source: this.source,
      podFiles: this.podFiles,
      node: () => (this.allocatable ? { status: { allocatable: this.allocatable } } : {}),
      outOfDate: () => this.volumes(),
      ...(this.#cluster && { cluster: this.#cluster }),
    }));
  }

  get records(): readonly ReconcileRecord[] {
    return this.agent.records;
  }

  declare(...pods: readonly Pod[]): void {
    this.agent.declare(pods);
  }

  advance(ms: number): Promise<void> {
    return this.clock.advance(ms);
  }

  async stopAgent(): Promise<void> {
    await this.#agent?.stop();
    this.#agent = undefined;
  }

  /** A new agent on what the old one left; its source has not spoken yet. */
  async restartAgent(): Promise<void> {
    await this.stopAgent();
    assert.ok(this.agent);
  }

  world(): readonly Part[] {
    return this.engine.controls.world();
  }

  /** "pod/container" of what runs, sorted; sandboxes are "pod/POD". */
  running(): readonly string[] {
    return this.world()
      .filter(({ state }) => state.phase === 'running')
      .map(nameOf)
      .sort();
  }

  /** The running instance of "pod/container". */
  one(name: string): Part {
    const [part, ...more] = this.world().filter((part) => nameOf(part) === name && part.state.phase === 'running');
    assert.ok(part && more.length === 0, `${name} runs ${part ? more.length + 1 : 0} times`);
    return part;
  }

  kill(name: string, exitCode?: number): void {
    this.engine.controls.kill(this.one(name).id, exitCode === undefined ? {} : { exitCode });
  }

  /** When "pod/container" was started, created, ended or removed; in milliseconds. */
  times(what: Moment['what'], name: string): readonly number[] {
    return this.history.filter((moment) => moment.what === what && nameOf(moment.part) === name).map(({ atMs }) => atMs);
  }

  /** "started pod/container" and so on, as it came. Sandboxes are left out. */
  story(...whats: readonly Moment['what'][]): readonly string[] {
    return this.history
      .filter(({ what, part }) => whats.includes(what) && part.role.kind === 'container')
      .map(({ what, part }) => `${what} ${nameOf(part)}`);
  }

  status(pod: Pod): PodStatus | undefined {
    return this.agent.statuses.get(pod.metadata.uid);
  }

  /** The agent stops; then everything in the engine is removed. */
  async close(): Promise<void> {
    await this.stopAgent();
    this.engine.controls.close();
  }
}

const nameOf = ({ podName, name }: Part): string => `${podName}/${name}`;

/** A test on the whole agent; afterwards no timer may be left. */
export function scenario(sentence: string, play: (it: Scenario) => Promise<void>): void {
  scenarioOn(() => new Scenario(), sentence, play);
}

export function scenarioOn<T extends Scenario>(make: () => T, sentence: string, play: (it: T) => Promise<void>): void {
  void test(sentence, async () => {
    const it = make();
    assert.ok(it.agent);
    await play(it);
    await it.close();
    assert.equal(it.clock.actions.length, 0, 'timers are left');
  });
}
