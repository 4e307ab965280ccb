import { type Observable, Subject } from 'rxjs';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { withDeadline } from '../base/with-deadline.ts';
import { isCriticalPod } from '../model/critical-pod.ts';
import { containerFsThresholds, type FilesystemLayout } from '../model/eviction/container-fs-thresholds.ts';
import { isHard, type Threshold, thresholdAmount } from '../model/eviction/threshold.ts';
import { type Pressure, pressureCondition, pressureTypes } from '../model/node-pressure.ts';
import { nodeReference } from '../model/object-reference.ts';
import { isTerminalPhase } from '../model/pod-predicates.ts';
import { podFullName, type Pod, type PodUid } from '../model/pod.ts';
import { Quantity } from '../model/quantity.ts';
import type { Given } from '../ports/contribution.ts';
import type { NodeParticipant } from '../ports/node-participant.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { PodEnd } from '../ports/pod-ends.ts';
import type { PodUsage } from '../ports/pod-stats.ts';
import { type EvictionMessage, evictionMessage, type ExceededThreshold } from './eviction-message.ts';
import { isMet, judgePressure, noPressure, type PressureMemory } from './judge-pressure.ts';
import { exceededLimit, hasLocalLimits } from './local-limits.ts';
import { LeavingPods } from './leaving-pods.ts';
import { LONGEST_MS, nextLookMs, SHORTEST_MS } from './next-look.ts';
import { NodeReclaim } from './node-reclaim.ts';
import { observe, type Observations, shown, unmeasured } from './observe.ts';
import { rankPods } from './rank-pods.ts';
import { starvedResource, type StarvedResource } from './starved-resource.ts';
import { untilCleanedUp } from './until-cleaned-up.ts';

export interface EvictionSettings {
  readonly thresholds: readonly Threshold[];
  readonly transitionMs: number;
  /** Of soft thresholds; below zero each pod has its own. */
  readonly maxPodGraceSeconds: number;
  readonly localStorageCapacityIsolation: boolean;
}

type Deps = Pick<NodeParts, 'clock' | 'log' | 'folded' | 'node' | 'pods' | 'statuses' | 'ends' | 'events' | 'tell'>;
type Measured = Pick<Given, 'stats' | 'reclaim' | 'participants'>;

/** What has not been measured by then is not known. Counting afresh alone may take 10 s. */
const MEASURE_WITHIN_MS = 15_000;
/** What is left of a pod where nothing is short: immediateEvictionGracePeriodSeconds of the kubelet. */
const IMMEDIATE_SECONDS = 1;

const oneFileSystem: FilesystemLayout = { imageFs: false, splitFs: false };
const nothingObserved: Observations = new Map();
const pressureKinds: readonly Pressure[] = ['memory', 'disk', 'pid'];

/**
 * Ends pods before the node runs out of something: the node's part in pkg/kubelet/eviction. Looks as often as a decision can change, frees
 * first what no pod needs, then ends one pod at a time and waits until nothing of it is left.
 */
export class EvictionManager {
  readonly #deps: Deps;
  readonly #settings: () => EvictionSettings;
  readonly #faults = new OngoingFaults<string>();
  readonly #changed = new Subject<void>();
  /** As they were configured at the last look. */
  #configured: readonly Threshold[];
  /** The same on the file systems that there are. */
  #thresholds: readonly Threshold[];
  #layout: FilesystemLayout | undefined;
  #memory: PressureMemory = noPressure;
  #pressures: ReadonlySet<Pressure> | undefined;
  readonly #leaving: LeavingPods;
  /** Whether each pod is limited in what it leaves on disks: each look asks it of all. */
  readonly #limited = new WeakMap<Pod, boolean>();

  /** `settings`: as they are now; the list of thresholds is another one only where they have changed. */
  constructor(deps: Deps, settings: () => EvictionSettings) {
    this.#deps = deps;
    this.#settings = settings;
    this.#leaving = new LeavingPods(deps);
    this.#configured = settings().thresholds;
    this.#thresholds = this.#configured;
  }

  get pressures(): ReadonlySet<Pressure> {
    return this.#pressures ?? new Set();
  }

  /** Nothing before the first look: what an agent before this one found still holds then. */
  conditions(): ReturnType<NonNullable<NodeParticipant['conditions']>> {
    const pressures = this.#pressures;
    return pressures === undefined ? [] : pressureKinds.map((each) => pressureCondition(each, pressures.has(each)));
  }

  get changes(): Observable<void> {
    return this.#changed;
  }

  /** Until the signal aborts. */
  async run(given: Measured, signal: AbortSignal): Promise<void> {
    const { clock, folded } = this.#deps;
    const reclaim = new NodeReclaim(given.reclaim, { clock, log: folded });
    while (!signal.aborted) {
      let waitMs = LONGEST_MS;
      try {
        const { ended, nextMs } = await this.look(given, reclaim, signal);
        await untilCleanedUp(this.#deps, ended, given.participants, signal);
        waitMs = nextMs;
      } catch (error) {
        if (signal.aborted) return;
        folded.error('a look at what the node is short of failed, looking again', { error });
      }
      await clock.sleep(waitMs, signal).catch(() => {});
    }
  }

  /** One look, and what follows from it: the pods that are ended now, and when to look again. */
  async look(
    given: Measured,
    reclaim: NodeReclaim,
    signal: AbortSignal,
  ): Promise<{ readonly ended: readonly PodUid[]; readonly nextMs: number }> {
    const { clock } = this.#deps;
    const settings = this.#settings();
    if (settings.thresholds !== this.#configured) this.#setThresholds(settings.thresholds);
    const limited = settings.localStorageCapacityIsolation ? this.#activePods((pod) => this.#isLimited(pod)) : [];
    // Without thresholds only limits of pods ask for it: which file systems they are about.
    const isAsked = this.#configured.length > 0 || (limited.length > 0 && this.#layout === undefined);
    const found = isAsked ? await this.#observed(given, signal) : nothingObserved;
    if (found === undefined) return { ended: await this.#endOverLimits(limited, given, signal), nextMs: LONGEST_MS };
    const times = { nowMs: clock.monotonicMs(), transitionMs: settings.transitionMs };
    const judgement = judgePressure(this.#memory, this.#thresholds, found, times);
    this.#memory = judgement.memory;
    this.#setPressures(judgement.pressures, found);
    const nextMs = nextLookMs(judgement, this.#thresholds, found, times);

    // Who breaks a rule goes first: that may be all it takes.
    const overLimits = await this.#endOverLimits(limited, given, signal);
    if (overLimits.length > 0) return { ended: overLimits, nextMs: SHORTEST_MS };
    // What could wait waits for the end of who goes already.
    const acute = this.#leaving.any() ? judgement.acute.filter(isHard) : judgement.acute;
    const ended = await this.#relieve(acute, found, given, reclaim, signal);
    return { ended, nextMs: ended.length === 0 ? nextMs : SHORTEST_MS };
  }

  /** Undefined: the node cannot be measured now. */
  async #observed(given: Measured, signal: AbortSignal): Promise<Observations | undefined> {
    const usage = await this.#measured('the node', signal, (within) => given.stats.node(within, 'signals'));
    if (usage === undefined) return undefined;
    const { observations, faults, layout } = observe(usage, this.#machineMemory());
    if (this.#layout === undefined && layout !== undefined) this.#setLayout(layout);
    for (const { signal: name } of this.#configured) {
      const why = faults.get(name) ?? (observations.has(name) ? undefined : unmeasured(name, usage));
      if (why === undefined) this.#faults.over(name);
      else if (this.#faults.fault(name, why)) this.#deps.log.warn('not watched: the numbers cannot be used', { signal: name, found: why });
    }
    return observations;
  }

  #machineMemory(): number | undefined {
    const text = this.#deps.node.resources.capacity()['memory'];
    return text === undefined ? undefined : Number(Quantity.parse(text).value());
  }

  /** Those before are forgotten, with since when they were met; how long the node was under pressure is not. */
  #setThresholds(configured: readonly Threshold[]): void {
    this.#configured = configured;
    this.#thresholds = configured;
    this.#memory = { ...this.#memory, metSinceMs: new Map(), unresolved: [] };
    if (this.#layout !== undefined) this.#setLayout(this.#layout);
  }

  #setLayout(layout: FilesystemLayout): void {
    this.#layout = layout;
    const { thresholds, warnings } = containerFsThresholds(this.#configured, layout);
    this.#thresholds = thresholds;
    for (const warning of warnings) this.#deps.log.warn('an eviction threshold counts for nothing', { warning });
  }

  /** Undefined: it could not be had in time, which is said once. */
  async #measured<T>(what: string, signal: AbortSignal, ask: (within: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const { clock, log } = this.#deps;
    try {
      const result = await withDeadline(clock, MEASURE_WITHIN_MS, `measuring ${what}`, signal, (within) =>
        unlessAborted(ask(within), within),
      );
      if (this.#faults.over(what)) log.info('measured again', { what });
      return result;
    } catch (error) {
      signal.throwIfAborted();
      if (this.#faults.fault(what, error)) log.warn('not measured: nothing is evicted for it until it is', { what, error });
      return undefined;
    }
  }

  #setPressures(pressures: ReadonlySet<Pressure>, observations: Observations): void {
    const { log } = this.#deps;
    const before = this.#pressures;
    this.#pressures = pressures;
    for (const pressure of pressureKinds) {
      const [was, is] = [before?.has(pressure) ?? false, pressures.has(pressure)];
      if (!was && is) log.warn('the node is short of something', { condition: pressureTypes[pressure], found: shown(observations) });
      if (was && !is) log.info('the node is no longer short of it', { condition: pressureTypes[pressure] });
    }
    if (before === undefined || before.size !== pressures.size || [...pressures].some((each) => !before.has(each))) this.#changed.next();
  }

  /** Those of the wanted that run, or will: not who has ended, or is being ended by the node. */
  #activePods(isWanted: (pod: Pod) => boolean = () => true): readonly Pod[] {
    const { pods, statuses, ends } = this.#deps;
    const isActive = ({ metadata: { uid }, status }: Pod): boolean =>
      !isTerminalPhase((statuses.get(uid) ?? status)?.phase) && ends.of(uid) === undefined;
    return pods.list().flatMap(({ pod }) => (isWanted(pod) && isActive(pod) ? [pod] : []));
  }

  #isLimited(pod: Pod): boolean {
    const known = this.#limited.get(pod);
    if (known !== undefined) return known;
    const isLimited = hasLocalLimits(pod);
    this.#limited.set(pod, isLimited);
    return isLimited;
  }

  /** All pods that use more of the node's disks than they may. Before any goes what it uses is counted once more. */
  async #endOverLimits(limited: readonly Pod[], given: Measured, signal: AbortSignal): Promise<readonly PodUid[]> {
    const suspects = await this.#overLimits(limited, given, undefined, signal);
    const proven = suspects.length === 0 ? [] : await this.#overLimits(limited, given, 'afresh', signal);
    for (const { pod, exceeded } of proven) {
      const { message } = exceeded;
      this.#end(pod, exceeded.signal, { message, annotations: {} }, { graceSeconds: IMMEDIATE_SECONDS, condition: false });
    }
    return proven.map(({ pod }) => pod.metadata.uid);
  }

  async #overLimits(limited: readonly Pod[], given: Measured, how: 'afresh' | undefined, signal: AbortSignal) {
    const candidates = limited.filter((pod) => !isCriticalPod(pod));
    if (candidates.length === 0) return [];
    const usages = byUid(await this.#measured('what pods leave on disks', signal, (within) => given.stats.pods(within, how)));
    return candidates.flatMap((pod) => {
      const usage = usages.get(pod.metadata.uid);
      const exceeded = usage && exceededLimit(pod, usage, this.#layout ?? oneFileSystem);
      return exceeded ? [{ pod, exceeded }] : [];
    });
  }

  /** Frees what no pod needs, and ends one pod where that is not enough. */
  async #relieve(
    acute: readonly Threshold[],
    observations: Observations,
    given: Measured,
    reclaim: NodeReclaim,
    signal: AbortSignal,
  ): Promise<readonly PodUid[]> {
    const { clock, node, events, log } = this.#deps;
    const [first] = acute;
    if (first === undefined) return [];
    const layout = this.#layout ?? oneFileSystem;
    const resource = starvedResource(first.signal);
    events.record(nodeReference(node.name), 'Warning', 'EvictionThresholdMet', `Attempting to reclaim ${resource}`);
    let now = observations;
    let left = acute;
    if (await reclaim.reclaim(first.signal, layout, signal)) {
      // Else it would be told what was there before.
      await clock.sleep(SHORTEST_MS, signal);
      const after = await this.#observed(given, signal);
      if (after === undefined) return [];
      now = after;
      left = acute.filter((threshold) => isMet(threshold, after, true));
    }
    const [threshold] = left;
    if (threshold === undefined) {
      log.info('enough was freed without evicting a pod', { resource });
      return [];
    }
    if (this.#leaving.any()) return this.#leaving.hurry(IMMEDIATE_SECONDS);
    const ended = await this.#endOne(threshold, left, now, given, signal);
    return ended === undefined ? [] : [ended];
  }

  async #endOne(
    threshold: Threshold,
    acute: readonly Threshold[],
    observations: Observations,
    given: Measured,
    signal: AbortSignal,
  ): Promise<PodUid | undefined> {
    const { clock, tell, folded } = this.#deps;
    const resource = starvedResource(threshold.signal);
    const candidates = this.#activePods().filter((pod) => !isCriticalPod(pod));
    if (candidates.length === 0) {
      folded.warn('short of something, and no pod may be evicted: those that run are critical', { resource });
      return undefined;
    }
    const how = resource === 'memory' ? 'cpuAndMemory' : 'afresh';
    const usages = await this.#measured('what pods use', signal, (within) => given.stats.pods(within, how));
    if (usages === undefined) return undefined;
    const known = byUid(usages);
    const stillActive = new Set(this.#activePods());
    const measured = candidates.filter((pod) => stillActive.has(pod)).map((pod) => ({ pod, usage: known.get(pod.metadata.uid) }));
    const [chosen] = rankPods(measured, threshold.signal, this.#layout ?? oneFileSystem);
    if (chosen === undefined) return undefined;
    for (const { signal: name } of acute) {
      const atMs = observations.get(name)?.atMs;
      if (atMs !== undefined) tell.evictionStatsUsed({ signal: name, ageMs: Math.max(0, clock.now() - atMs) });
    }
    const message = evictionMessage(resource, chosen, exceededFirst(resource, acute, observations));
    const { uid } = chosen.pod.metadata;
    const graceSeconds = this.#graceSeconds(threshold, chosen.pod);
    this.#end(chosen.pod, threshold.signal, message, { graceSeconds });
    if (!isHard(threshold)) this.#leaving.add(uid, graceSeconds ?? chosen.pod.spec.terminationGracePeriodSeconds ?? 0);
    return uid;
  }

  /** Undefined: the pod's own. */
  #graceSeconds(threshold: Threshold, { spec }: Pod): number | undefined {
    if (isHard(threshold)) return IMMEDIATE_SECONDS;
    const { maxPodGraceSeconds } = this.#settings();
    if (maxPodGraceSeconds < 0) return undefined;
    return Math.min(maxPodGraceSeconds, spec.terminationGracePeriodSeconds ?? maxPodGraceSeconds);
  }

  #end(pod: Pod, signal: string, { message, annotations }: EvictionMessage, how: Pick<PodEnd, 'graceSeconds' | 'condition'>): void {
    const { ends, events, tell, log } = this.#deps;
    const { uid } = pod.metadata;
    events.record(pod, 'Warning', 'Evicted', message, undefined, annotations);
    log.warn('pod evicted', { pod: podFullName(pod), uid, signal, message, graceSeconds: how.graceSeconds });
    ends.end(uid, { reason: 'Evicted', message, ...how });
    tell.podEvicted({ uid, signal });
  }
}

const byUid = (usages: readonly PodUsage[] = []): ReadonlyMap<PodUid, PodUsage> => new Map(usages.map((usage) => [usage.uid, usage]));

/** The first threshold of all that are about what is short. */
function exceededFirst(resource: StarvedResource, acute: readonly Threshold[], observations: Observations): ExceededThreshold | undefined {
  for (const { signal, value } of acute) {
    const observed = observations.get(signal);
    if (observed && starvedResource(signal) === resource)
      return { threshold: thresholdAmount(value, observed.capacity), available: observed.available };
  }
  return undefined;
}
