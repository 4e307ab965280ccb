import { randomUUID } from 'node:crypto';
import { filter, firstValueFrom, ReplaySubject, type Subscription, timeout } from 'rxjs';
import type { Container, Pod, PodSpec, PodUid } from '../../src/model/pod.ts';
import type {
  ContainerId,
  ContainerRuntime,
  ContainerSpec,
  Device,
  ObservedContainer,
  ObservedPod,
  SandboxId,
  SandboxSpec,
} from '../../src/ports/container-runtime.ts';
import type { ImageService } from '../../src/ports/image-service.ts';
import { aContainer, aPod } from '../builders/a-pod.ts';

/** What a sandbox or container was made with, past the port; handlers and cgroups that were not asked for are the engine's own. */
export interface MadeWith {
  readonly cgroupParent: string | undefined;
  readonly handler: string | undefined;
  readonly devices: readonly Device[];
  readonly cpuset: string | undefined;
  readonly cpusetMems: string | undefined;
}

/** What engines have in common but for their words, or not at all. */
export interface EngineFacts {
  /** As it calls itself. */
  readonly name: string;
  /** As the status of a container shows its image. */
  readonly imageId: RegExp;
  /** What becomes of a container whose command is not there. */
  readonly failedStart: { readonly exitCode: number; readonly reason: string; readonly startedAt: 'when it was created' | 'not told' };
  /** The input of a container stays open when who gave some goes, unless it is open once; otherwise it ends with the first of them. */
  readonly keepsInputOpen: boolean;
  /** Whether a container can name the signal that stops it; otherwise it is the image's, and not told. */
  readonly namesStopSignals: boolean;
  /** What is said of an image whose files are wanted and that is not there. */
  readonly absentImageFiles: RegExp;
  /** Whether it tells what a container may do with a device; otherwise all that it was made with is a path. */
  readonly tellsDevicePermissions: boolean;
}

/** An engine under test. */
export interface EngineUnderTest {
  readonly facts: EngineFacts;
  readonly runtime: ContainerRuntime;
  readonly images: ImageService;
  /** A busybox that the engine has. */
  readonly image: string;
  /** Makes another image, from which no container was made. Resolves with its name. */
  readonly makeImage: () => Promise<string>;
  /** A handler that the engine has and does not take by itself. */
  readonly handler: string;
  /** Whether its kernel can hold a container to some CPUs. */
  readonly cpusets: boolean;
  readonly madeWith: (id: string) => Promise<MadeWith>;
  readonly dispose: () => Promise<void>;
}

/** An id that no engine has given. */
export const UNKNOWN = 'f'.repeat(64);
/** As process 1 of its container, a shell without a trap does not hear SIGTERM. */
export const DEAF = 'sleep 1000; true';

/** Longer than any sentence of the contract takes on a busy machine. */
const PATIENCE_MS = 60_000;

/** One test's engine, its pods and everything the engine has hinted so far. */
export class RuntimeWorld {
  readonly runtime: ContainerRuntime;
  readonly images: ImageService;
  readonly image: string;
  readonly facts: EngineFacts;
  readonly cpusets: boolean;
  readonly handler: string;
  readonly madeWith: EngineUnderTest['madeWith'];
  readonly makeImage: EngineUnderTest['makeImage'];
  /** Every hint since the world began, replayed. */
  readonly hints = new ReplaySubject<PodUid>();
  readonly #engine: EngineUnderTest;
  readonly #subscription: Subscription;
  readonly #uids: PodUid[] = [];

  constructor(engine: EngineUnderTest) {
    this.#engine = engine;
    this.runtime = engine.runtime;
    this.images = engine.images;
    this.image = engine.image;
    this.facts = engine.facts;
    this.handler = engine.handler;
    this.cpusets = engine.cpusets;
    this.madeWith = engine.madeWith;
    this.makeImage = engine.makeImage;
    this.#subscription = engine.runtime.hints.subscribe(this.hints);
  }

  /** A deadline, so that a broken promise fails its sentence instead of hanging it. */
  get signal(): AbortSignal {
    return AbortSignal.timeout(PATIENCE_MS);
  }

  pod(containers: readonly Container[] = [], spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
    const uid = randomUUID() as PodUid;
    this.#uids.push(uid);
    return aPod(`contract-${uid.slice(0, 8)}`, { ...spec, containers }, { uid, ...metadata });
  }

  /** A container that runs `script` in a shell. */
  shell(name: string, script: string, over: Partial<Container> = {}): Container {
    return aContainer(name, { image: this.image, command: ['sh', '-c', script], ...over });
  }

  async spec(container: Container, over: Partial<ContainerSpec> = {}): Promise<ContainerSpec> {
    const info = await this.images.inspectImage(this.image, this.signal);
    if (!info) throw new Error(`the engine under test lacks the image ${this.image}`);
    return {
      container,
      attempt: 0,
      imageRef: info.id,
      env: [],
      command: container.command,
      args: container.args,
      mounts: [],
      ...over,
    };
  }

  async runSandbox(pod: Pod, attempt = 0): Promise<SandboxId> {
    return (await this.runtime.runSandbox(pod, this.sandboxSpec(pod, attempt), this.signal)).id;
  }

  sandboxSpec(pod: Pod, attempt = 0): SandboxSpec {
    return { attempt, hostname: pod.spec.hostNetwork ? undefined : pod.metadata.name };
  }

  async start(pod: Pod, sandbox: SandboxId, container: Container, over: Partial<ContainerSpec> = {}): Promise<ContainerId> {
    return this.runtime.startContainer(pod, sandbox, await this.spec(container, over), this.signal);
  }

  /** A sandbox with one started container. */
  async run(script: string, over: Partial<ContainerSpec> = {}): Promise<{ pod: Pod; sandbox: SandboxId; id: ContainerId }> {
    const container = this.shell('app', script);
    const pod = this.pod([container]);
    const sandbox = await this.runSandbox(pod);
    return { pod, sandbox, id: await this.start(pod, sandbox, container, over) };
  }

  observe(pod: Pod): Promise<ObservedPod> {
    return this.runtime.observePod(pod.metadata.uid, this.signal);
  }

  async container(pod: Pod, id: ContainerId): Promise<ObservedContainer> {
    const { containers } = await this.observe(pod);
    const found = containers.find((c) => c.id === id);
    if (!found) throw new Error(`${id} is not among ${JSON.stringify(containers)}`);
    return found;
  }

  /** Looks now and after each hint about the pod, until `done`. */
  async until(pod: Pod, done: (observed: ObservedPod) => boolean): Promise<ObservedPod> {
    let last = await this.observe(pod);
    if (done(last)) return last;
    return new Promise((resolve, reject) => {
      const signal = this.signal;
      let looking = Promise.resolve();
      const look = async (): Promise<void> => {
        last = await this.observe(pod);
        if (!done(last)) return;
        subscription.unsubscribe();
        resolve(last);
      };
      const subscription = this.hints.pipe(filter((uid) => uid === pod.metadata.uid)).subscribe(() => {
        looking = looking.then(look).catch(reject);
      });
      signal.addEventListener('abort', () => {
        subscription.unsubscribe();
        reject(new Error(`no hint led to what was awaited; last seen: ${JSON.stringify(last)}`));
      });
    });
  }

  /** Waits for the container's end and returns how it ended. */
  async ended(pod: Pod, id: ContainerId): Promise<ObservedContainer['state'] & { phase: 'exited' }> {
    const { containers } = await this.until(pod, (seen) => seen.containers.some((c) => c.id === id && c.state.phase === 'exited'));
    const state = containers.find((c) => c.id === id)?.state;
    if (state?.phase !== 'exited') throw new Error('unreachable: the container was seen as exited');
    return state;
  }

  /** Resolves when a shell that was started before has surely set its traps: a whole other container lives and dies meanwhile. */
  async letShellsSettle(pod: Pod, sandbox: SandboxId): Promise<void> {
    const id = await this.start(pod, sandbox, this.shell(`settle-${randomUUID().slice(0, 4)}`, 'exit 0'));
    await this.ended(pod, id);
  }

  /** Resolves with the next hint about the pod, counted from the call; rejects when none comes. */
  nextHint(pod: Pod): Promise<PodUid> {
    return firstValueFrom(
      this.runtime.hints.pipe(
        filter((uid) => uid === pod.metadata.uid),
        timeout({ first: PATIENCE_MS }),
      ),
    );
  }

  async dispose(): Promise<void> {
    try {
      for (const uid of this.#uids) {
        const { sandboxes, containers } = await this.runtime.observePod(uid, this.signal);
        for (const { id } of containers) {
          await this.runtime.stopContainer(id, 0, this.signal);
          await this.runtime.removeContainer(id, this.signal);
        }
        for (const { id } of sandboxes) {
          await this.runtime.stopSandbox(id, this.signal);
          await this.runtime.removeSandbox(id, this.signal);
        }
      }
    } finally {
      this.#subscription.unsubscribe();
      await this.#engine.dispose();
    }
  }
}
