import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/error-text.ts';
import { soonAfterAbort } from '../../base/soon-after-abort.ts';
import { deadline } from '../../base/deadline.ts';
import { withDeadline } from '../../base/with-deadline.ts';
import type { NodeUse } from '../../model/node-use.ts';
import type { PodRefusal } from '../../model/pod-admission.ts';
import type { Container, Pod, PodUid } from '../../model/pod.ts';
import type { Device, Mount } from '../../ports/container-runtime.ts';
import type { Given } from '../../ports/contribution.ts';
import type {
  ContainerAdditions,
  ContainerInMaking,
  OutOfDate,
  PodCgroup,
  PodParticipant,
  ResourceHealthByContainer,
  SandboxAdditions,
} from '../../ports/pod-participant.ts';

/** All that the participants give a container. */
export interface AllContainerAdditions {
  readonly env: ReadonlyMap<string, string>;
  readonly mounts: readonly Mount[];
  readonly devices: readonly Device[];
  readonly cdiDevices: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly cpuset: string | undefined;
  readonly cpusetMems: string | undefined;
  readonly cgroupParent: string | undefined;
  readonly handler: string | undefined;
}

/** What a container gets where there are no participants. */
export const noAdditions: Omit<AllContainerAdditions, 'env'> = {
  mounts: [],
  devices: [],
  cdiDevices: [],
  annotations: {},
  cpuset: undefined,
  cpusetMems: undefined,
  cgroupParent: undefined,
  handler: undefined,
};

/** How long may all take together until a pod is admitted or refused: pods wait for each other's admission. */
const ADMIT_WITHIN_MS = 10_000;
/** How long one may take to make room: other pods have to end for it. */
const MAKE_ROOM_WITHIN_MS = 120_000;
/** How long all may take together for any other step: a pod whose volume hangs says so, and the step is retried. */
const STEP_WITHIN_MS = 300_000;
/** How long one may take to end what it does once that was aborted. */
const ABORT_WITHIN_MS = 5_000;

/** The participants in pods' lives as one: they act in order, and release in the reverse one. One that hangs after an abort is left behind. */
export class PodParticipants {
  readonly #clock: Pick<Clock, 'schedule' | 'monotonicMs'>;
  /** In order: those who have a part in it. */
  readonly #in: Readonly<Record<keyof PodParticipant, Given['participants']>>;

  constructor(participants: Given['participants'], clock: Pick<Clock, 'schedule' | 'monotonicMs'>) {
    this.#clock = clock;
    const having = (verb: keyof PodParticipant): Given['participants'] => participants.filter(({ pod }) => pod[verb] !== undefined);
    this.#in = {
      admit: having('admit'),
      wouldAdmit: having('wouldAdmit'),
      makeRoom: having('makeRoom'),
      prepare: having('prepare'),
      isPrepared: having('isPrepared'),
      sandbox: having('sandbox'),
      container: having('container'),
      cpuset: having('cpuset').toReversed(),
      resourceHealth: having('resourceHealth'),
      cgroup: having('cgroup').toReversed(),
      tearDown: having('tearDown').toReversed(),
      release: having('release').toReversed(),
      remains: having('remains'),
      holdsEnd: having('holdsEnd'),
    };
  }

  /**
   * Whether the pod may run beside these. Where one refuses, the first that makes room for it lets all be asked once more; where it stays
   * refused, or one fails, those that may have allocated for it release that. `recount` brings the others up to date in between.
   */
  async admit(pod: Pod, others: NodeUse, signal: AbortSignal, recount: () => void = () => {}): Promise<PodRefusal | undefined> {
    try {
      const refusal = await this.#askAll('admit', pod, others, signal);
      if (refusal === undefined || !(await this.#makeRoom(pod, refusal, others, signal))) {
        if (refusal) await this.release(pod.metadata.uid, signal);
        return refusal;
      }
      recount();
      const still = await this.#askAll('admit', pod, others, signal);
      if (still) await this.release(pod.metadata.uid, signal);
      return still;
    } catch (error) {
      await this.release(pod.metadata.uid, signal);
      throw error;
    }
  }

  /** What would be said of a pod that is only planned, as far as that can be known by looking. */
  wouldAdmit(pod: Pod, others: NodeUse, signal: AbortSignal): Promise<PodRefusal | undefined> {
    return this.#askAll('wouldAdmit', pod, others, signal);
  }

  /** Whether all find nothing to prepare. */
  isPrepared(pod: Pod): boolean {
    return this.#in.prepare.every((each) => isPreparedBy(each, pod));
  }

  /** Asks those that may find something to do. Rejects with the first that fails. Resolves with what is as it was before, of all of them. */
  async prepare(pod: Pod, signal: AbortSignal): Promise<OutOfDate | undefined> {
    const outOfDate: OutOfDate[] = [];
    const busy = this.#in.prepare.filter((each) => !isPreparedBy(each, pod));
    await this.#eachInTime(busy, 'preparing', signal, async (each, within) => {
      const found = await this.#asked(each.prepare?.(pod, within), within);
      if (found) outOfDate.push(found);
    });
    if (outOfDate.length === 0) return undefined;
    return {
      message: outOfDate.map(({ message }) => message).join('; '),
      retryInMs: Math.min(...outOfDate.map(({ retryInMs }) => retryInMs)),
    };
  }

  async sandbox(pod: Pod, signal: AbortSignal): Promise<SandboxAdditions> {
    let all: SandboxAdditions = {};
    await this.#eachInTime(this.#in.sandbox, 'giving the sandbox its part', signal, async (each, within) => {
      all = { ...all, ...(await this.#asked(each.sandbox?.(pod, within), within)) };
    });
    return all;
  }

  async container(pod: Pod, container: Container, making: ContainerInMaking, signal: AbortSignal): Promise<AllContainerAdditions> {
    const env = new Map(making.env);
    const mounts: Mount[] = [];
    const devices: Device[] = [];
    const cdiDevices = new Set<string>();
    const annotations: Record<string, string> = {};
    let { cpuset, cpusetMems, cgroupParent, handler } = noAdditions;
    await this.#eachInTime(this.#in.container, `giving container ${container.name} its part`, signal, async (each, within) => {
      const asked = each.container?.(pod, container, { ...making, env }, within);
      const additions: ContainerAdditions = (await this.#asked(asked, within)) ?? {};
      for (const { name, value } of additions.env ?? []) env.set(name, value);
      mounts.push(...(additions.mounts ?? []));
      devices.push(...(additions.devices ?? []));
      for (const name of additions.cdiDevices ?? []) cdiDevices.add(name);
      Object.assign(annotations, additions.annotations);
      ({ cpuset = cpuset, cpusetMems = cpusetMems, cgroupParent = cgroupParent, handler = handler } = additions);
    });
    return { env, mounts, devices, cdiDevices: [...cdiDevices], annotations, cpuset, cpusetMems, cgroupParent, handler };
  }

  /** What the last one says that has a say. */
  cpuset(uid: PodUid, container: string): string | undefined {
    return firstDefined(this.#in.cpuset, ({ pod }) => pod.cpuset?.(uid, container));
  }

  /** Of each who has a say: by container. */
  resourceHealth(uid: PodUid): readonly ResourceHealthByContainer[] {
    return this.#in.resourceHealth.map(({ pod }) => pod.resourceHealth?.(uid)).filter((each) => each !== undefined);
  }

  /** As cpuset. */
  cgroup(uid: PodUid): PodCgroup | undefined {
    return firstDefined(this.#in.cgroup, ({ pod }) => pod.cgroup?.(uid));
  }

  tearDown(uid: PodUid, signal: AbortSignal): Promise<void> {
    return this.#eachBackwards('tearDown', uid, signal);
  }

  release(uid: PodUid, signal: AbortSignal): Promise<void> {
    return this.#eachBackwards('release', uid, signal);
  }

  #askAll(verb: 'admit' | 'wouldAdmit', pod: Pod, others: NodeUse, signal: AbortSignal): Promise<PodRefusal | undefined> {
    return withDeadline(this.#clock, ADMIT_WITHIN_MS, 'admission', signal, async (within) => {
      for (const each of this.#in[verb]) {
        const refusal = await this.#asked(each.pod[verb]?.(pod, others, within), within);
        if (refusal) return refusal;
      }
      return undefined;
    });
  }

  async #makeRoom(pod: Pod, refusal: PodRefusal, others: NodeUse, signal: AbortSignal): Promise<boolean> {
    for (const { name, pod: each } of this.#in.makeRoom) {
      const isMade = await withDeadline(this.#clock, MAKE_ROOM_WITHIN_MS, `making room by ${name}`, signal, async (within) =>
        this.#asked(each.makeRoom?.(pod, refusal, others, within), within),
      );
      if (isMade) return true;
    }
    return false;
  }

  /** In order, all of them within one deadline, which names the one that was at it. */
  async #eachInTime(
    all: Given['participants'],
    what: string,
    signal: AbortSignal,
    step: (each: PodParticipant, within: AbortSignal) => Promise<void>,
  ): Promise<void> {
    if (all.length === 0) return;
    let at = '';
    const late = (): Error => new Error(`${at}: ${what} took longer than ${STEP_WITHIN_MS / 1000} s`);
    using within = deadline(this.#clock, STEP_WITHIN_MS, late, signal);
    for (const { name, pod } of all) {
      at = name;
      await step(pod, within.signal);
    }
  }

  #asked<T>(answer: Promise<T> | undefined, signal: AbortSignal): Promise<T> | undefined {
    return answer && soonAfterAbort(answer, this.#clock, ABORT_WITHIN_MS, signal);
  }

  /** One that fails does not keep the others from what is theirs. Rejects with all that failed. */
  async #eachBackwards(verb: 'tearDown' | 'release', uid: PodUid, signal: AbortSignal): Promise<void> {
    const failed: { readonly name: string; readonly error: unknown }[] = [];
    for (const { name, pod } of this.#in[verb]) {
      try {
        await withDeadline(this.#clock, STEP_WITHIN_MS, verb, signal, async (within) => this.#asked(pod[verb]?.(uid, within), within));
      } catch (error) {
        signal.throwIfAborted();
        failed.push({ name, error });
      }
    }
    const [first, ...more] = failed;
    if (!first) return;
    if (more.length === 0) throw first.error;
    throw new Error(failed.map(({ name, error }) => `${name}: ${errorText(error)}`).join('; '), { cause: first.error });
  }
}

function isPreparedBy({ pod: participant }: Given['participants'][number], pod: Pod): boolean {
  return participant.isPrepared?.(pod) ?? false;
}

function firstDefined<E, T>(all: readonly E[], ask: (each: E) => T | undefined): T | undefined {
  for (const each of all) {
    const answer = ask(each);
    if (answer !== undefined) return answer;
  }
  return undefined;
}
