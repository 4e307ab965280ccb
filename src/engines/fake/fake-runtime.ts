import type { LogPolicy } from '../../model/log-policy.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Observable } from 'rxjs';
import { errorText } from '../../base/error-text.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { containerHash } from '../../model/container-hash.ts';
import { ContainerStartError } from '../../model/container-start-error.ts';
import { SANDBOX_NAME } from '../../model/sandbox-name.ts';
import { newestFirst } from '../../model/newest-first.ts';
import { stopSignalOf } from '../../model/stop-signal.ts';
import { effectiveResources } from '../../model/effective-resources.ts';
import { type Container, type Pod, type PodUid, aboutPod } from '../../model/pod.ts';
import { Quantity } from '../../model/quantity.ts';
import type {
  ContainerChange,
  ContainerId,
  ContainerRuntime,
  ContainerSpec,
  CreatedContainer,
  EngineInfo,
  ObservedContainer,
  ObservedPod,
  ObservedSandbox,
  PodSummary,
  RunningSandbox,
  SandboxId,
  SandboxSpec,
} from '../../ports/container-runtime.ts';
import { type CallGate, FakeEngineError } from './call-gate.ts';
import { BEHAVIOUR_ANNOTATION, type ContainerBehaviour, parseBehaviour, programOfBehaviour } from './container-behaviour.ts';
import { FakeConsole } from './fake-console.ts';
import type { FakeDaemon, Part, PartRole, PartSpec } from './fake-daemon.ts';
import type { FakeImages } from './fake-images.ts';
import { noHandler, serve } from './program.ts';
import { isMissing, programOf } from './shell.ts';

export interface FakeRuntimeDeps {
  readonly daemon: FakeDaemon;
  readonly gate: CallGate;
  readonly images: FakeImages;
  readonly hints: Observable<PodUid>;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly logPolicy: () => LogPolicy | undefined;
  /** The handlers that sandboxes may ask for. */
  readonly handlers: readonly string[];
}

/** The grace that a sandbox gets, as the kubelet has it (pkg/kubelet/dockershim defaultSandboxGracePeriod, 10 s). */
const SANDBOX_GRACE_MS = 10_000;

/** How many latencies a sandbox takes from its creation to its start. */
const SANDBOX_START_COST = 6;

/** A container as it was created, before its start. */
interface Made {
  readonly id: ContainerId;
  readonly adopted: boolean;
  readonly spec: ContainerSpec;
  readonly behaviour: ContainerBehaviour;
}

/** ContainerRuntime on the daemon in memory. */
export class FakeRuntime implements ContainerRuntime {
  readonly hints: Observable<PodUid>;
  readonly #deps: FakeRuntimeDeps;

  constructor(deps: FakeRuntimeDeps) {
    this.#deps = deps;
    this.hints = deps.hints;
  }

  info(signal: AbortSignal): Promise<EngineInfo> {
    return this.#deps.gate.pass('info', signal, () => ({ name: 'fake', version: '1.0', apiVersion: '1.40' }));
  }

  listPods(signal: AbortSignal): Promise<readonly PodSummary[]> {
    const { gate, daemon } = this.#deps;
    return gate.pass('listPods', signal, () => {
      return Array.from(daemon.pods, (uid) => {
        const parts = daemon.partsOf(uid);
        return {
          uid,
          name: parts[0]?.podName ?? '',
          namespace: parts[0]?.namespace ?? '',
          parts: parts.map(({ id, role, name, state }) => ({
            id,
            container: role.kind === 'sandbox' ? undefined : name,
            phase: state.phase,
          })),
        };
      });
    });
  }

  observePod(uid: PodUid, signal: AbortSignal): Promise<ObservedPod> {
    const { gate, daemon } = this.#deps;
    return gate.pass('observePod', signal, () => {
      const parts = daemon.partsOf(uid);
      return {
        uid,
        name: parts[0]?.podName ?? '',
        namespace: parts[0]?.namespace ?? '',
        sandboxes: parts.flatMap((p) => (p.role.kind === 'sandbox' ? [observedSandbox(p, p.role)] : [])).sort(newestFirst),
        containers: parts.flatMap((p) => (p.role.kind === 'container' ? [observedContainer(p, p.role)] : [])).sort(newestFirst),
      };
    });
  }

  runSandbox(
    pod: Pod,
    { attempt, cgroupParent, handler }: SandboxSpec,
    signal: AbortSignal,
    onCreated: (id: SandboxId) => void = () => {},
  ): Promise<RunningSandbox> {
    const { gate, daemon, images, handlers } = this.#deps;
    return gate.pass('runSandbox', signal, async (alive) => {
      if (handler !== undefined && !handlers.includes(handler)) throw new FakeEngineError(`RuntimeHandler "${handler}" not supported`);
      for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
        const pull = this.#behaviour(pod, container.name).pull;
        if (pull && container.image !== undefined) images.script(container.image, pull);
      }
      const role: PartRole = { kind: 'sandbox', network: pod.spec.hostNetwork ? 'node' : 'pod' };
      const { part } = this.#createOrAdopt({ ...identity(pod), name: SANDBOX_NAME, attempt, role, given: { cgroupParent, handler } });
      const id = part.id as SandboxId;
      onCreated(id);
      await gate.take(SANDBOX_START_COST, alive);
      daemon.start(id, { run: serve(), onTerm: noHandler });
      return { id, ips: daemon.get(id)?.ips ?? [] };
    });
  }

  async createContainer(pod: Pod, sandbox: SandboxId, spec: ContainerSpec, signal: AbortSignal): Promise<CreatedContainer> {
    const made = await inStartErrors(signal, () =>
      this.#deps.gate.pass('createContainer', signal, () => this.#createContainer(pod, sandbox, spec)),
    );
    return { start: (now, startSignal) => this.#passStart(pod, sandbox, now, startSignal, made) };
  }

  startContainer(pod: Pod, sandbox: SandboxId, spec: ContainerSpec, signal: AbortSignal): Promise<ContainerId> {
    return this.#passStart(pod, sandbox, spec, signal, undefined);
  }

  #passStart(pod: Pod, sandbox: SandboxId, spec: ContainerSpec, signal: AbortSignal, ahead: Made | undefined): Promise<ContainerId> {
    return inStartErrors(signal, () =>
      this.#deps.gate.pass('startContainer', signal, (alive) => this.#startContainer(pod, sandbox, spec, alive, ahead)),
    );
  }

  #createContainer(pod: Pod, sandbox: SandboxId, spec: ContainerSpec): Made {
    const {
      container,
      attempt,
      imageRef,
      env,
      mounts,
      imageMounts,
      devices,
      cdiDevices,
      annotations,
      cpuset,
      cpusetMems,
      cgroupParent,
      handler,
    } = spec;
    const behaviour = this.#behaviour(pod, container.name);
    const image = this.#deps.images.find(imageRef);
    if (!image) throw new FakeEngineError(`No such image: ${imageRef}`);
    const missing = imageMounts?.find((mount) => !this.#deps.images.find(mount.imageRef));
    if (missing) throw new FakeEngineError(`No such image: ${missing.imageRef}`);
    if (behaviour.create !== undefined) throw new FakeEngineError(behaviour.create);
    const { terminationGracePeriodSeconds } = pod.spec;
    const { runAsUser, runAsGroup } = { ...pod.spec.securityContext, ...container.securityContext };
    const { deletionGracePeriodSeconds } = pod.metadata;
    const role: PartRole = {
      kind: 'container',
      sandbox,
      image: image.repoTags[0] ?? image.repoDigests[0] ?? image.id,
      imageId: `docker-pullable://${image.repoDigests[0]}`,
      imageNames: [image.id, ...image.repoTags, ...image.repoDigests],
      specHash: containerHash(container),
      resources: resourcesIn(pod, container),
      // What is named in an image nobody knows here.
      user: { uid: runAsUser ?? 0, gid: runAsGroup ?? 0 },
      stopSignal: stopSignalOf(container.lifecycle?.stopSignal),
      terminationGracePeriodSeconds,
      deletionGracePeriodSeconds,
    };
    const given = { env, mounts, imageMounts, devices, cdiDevices, annotations, cpuset, cpusetMems, cgroupParent, handler };
    const { part, adopted } = this.#createOrAdopt({ ...identity(pod), name: container.name, attempt, role, given });
    return { id: part.id as ContainerId, adopted, spec, behaviour };
  }

  async #startContainer(
    pod: Pod,
    sandbox: SandboxId,
    spec: ContainerSpec,
    alive: AbortSignal,
    ahead: Made | undefined,
  ): Promise<ContainerId> {
    const { gate, daemon } = this.#deps;
    const { container, attempt } = spec;
    const { id, adopted, behaviour } = ahead && isDeepStrictEqual(ahead.spec, spec) ? ahead : this.#createContainer(pod, sandbox, spec);
    if (adopted) return id;
    await gate.take(1, alive);
    if (!daemon.get(id)) throw new ContainerStartError('RunContainerError', `No such container: ${id}`);
    const argv = [...(spec.command ?? []), ...(spec.args ?? [])];
    const refusal = this.#refusal(sandbox, behaviour, argv);
    if (refusal !== undefined) {
      daemon.cannotRun(id, refusal);
      throw new ContainerStartError('RunContainerError', refusal);
    }
    const env = new Map(spec.env.map(({ name, value }) => [name, value]));
    const onPuzzled = (why: string): void =>
      this.#deps.log.warn('script not understood by the embedded engine; it ends with 2', {
        ...aboutPod(pod),
        container: container.name,
        why,
      });
    const { stdin = false, stdinOnce = false, terminationMessagePath, terminationMessagePolicy } = container;
    const message = { terminationMessagePath, terminationMessagePolicy };
    const console = new FakeConsole({
      clock: this.#deps.clock,
      logPolicy: this.#deps.logPolicy(),
      env,
      stdin,
      stdinOnce,
      stopSignal: container.lifecycle?.stopSignal,
      ...message,
    });
    daemon.start(id, programOfBehaviour(behaviour, attempt) ?? programOf(argv, env, onPuzzled, console), console);
    return id;
  }

  async updateContainer(id: ContainerId, pod: Pod, container: Container, change: ContainerChange, signal: AbortSignal): Promise<void> {
    const { gate, daemon } = this.#deps;
    await gate.pass('updateContainer', signal, () => {
      const role = daemon.get(id)?.role;
      if (role?.kind !== 'container') throw new FakeEngineError(`No such container: ${id}`);
      if (typeof change === 'object') {
        daemon.pin(id, change.cpuset);
        return;
      }
      const { cpuRequest, cpuLimit, memoryLimit } = resourcesIn(pod, container);
      const memory = { cpuRequest: role.resources?.cpuRequest, cpuLimit: role.resources?.cpuLimit, memoryLimit };
      daemon.update(id, change === 'memory' ? memory : { cpuRequest, cpuLimit, memoryLimit: role.resources?.memoryLimit });
    });
  }

  async stopContainer(id: ContainerId, graceMs: number, signal: AbortSignal): Promise<void> {
    const { gate, daemon } = this.#deps;
    await gate.pass('stopContainer', signal, (alive) => daemon.stop(id, graceMs, alive));
  }

  async removeContainer(id: ContainerId, signal: AbortSignal): Promise<void> {
    const { gate, daemon } = this.#deps;
    await gate.pass('removeContainer', signal, () => daemon.remove(id));
  }

  async stopSandbox(id: SandboxId, signal: AbortSignal): Promise<void> {
    const { gate, daemon } = this.#deps;
    await gate.pass('stopSandbox', signal, (alive) => daemon.stop(id, SANDBOX_GRACE_MS, alive));
  }

  async removeSandbox(id: SandboxId, signal: AbortSignal): Promise<void> {
    const { gate, daemon } = this.#deps;
    await gate.pass('removeSandbox', signal, () => {
      const uid = daemon.get(id)?.uid;
      // Of one that is gone already, no one knows the pod.
      const beside = uid === undefined ? daemon.parts : daemon.partsOf(uid);
      for (const { id: containerId, role } of beside) if (role.kind === 'container' && role.sandbox === id) daemon.remove(containerId);
      daemon.remove(id);
    });
  }

  /** Why a created container cannot be started. */
  #refusal(sandbox: SandboxId, behaviour: ContainerBehaviour, argv: readonly string[]): string | undefined {
    const command = argv[0];
    if (this.#deps.daemon.get(sandbox)?.state.phase !== 'running') return `cannot join network of a non running container: ${sandbox}`;
    if (behaviour.start !== undefined) return behaviour.start;
    return command !== undefined && isMissing(command) ? `exec: "${command}": stat ${command}: no such file or directory` : undefined;
  }

  /** What holds the name is adopted where it runs and is the same, else replaced. */
  #createOrAdopt(spec: PartSpec): { readonly part: Part; readonly adopted: boolean } {
    const { daemon } = this.#deps;
    const leftover = daemon.holder(spec);
    if (leftover?.state.phase === 'running' && hashOf(leftover) === hashOf(spec)) return { part: leftover, adopted: true };
    if (leftover) daemon.remove(leftover.id);
    return { part: daemon.create(spec), adopted: false };
  }

  #behaviour(pod: Pod, name: string): ContainerBehaviour {
    const text = pod.metadata.annotations?.[BEHAVIOUR_ANNOTATION + name];
    if (text === undefined) return {};
    try {
      return parseBehaviour(text);
    } catch (error) {
      this.#deps.log.warn('annotation for the embedded engine not understood', { ...aboutPod(pod), container: name, error });
      return {};
    }
  }
}

async function inStartErrors<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ContainerStartError || signal.aborted) throw error;
    throw new ContainerStartError('CreateContainerError', errorText(error), { cause: error });
  }
}

/** What the kernel would enforce. Without a request the limit stands in for it. */
function resourcesIn(pod: Pod, container: Container): ObservedContainer['resources'] & {} {
  const { requests, limits } = effectiveResources(pod, container);
  const amount = (text: string | undefined): Quantity | undefined => (text === undefined ? undefined : Quantity.fromJson(text));
  const cpuLimit = amount(limits?.['cpu']);
  return { cpuRequest: amount(requests?.['cpu']) ?? cpuLimit, cpuLimit, memoryLimit: amount(limits?.['memory']) };
}

const hashOf = ({ role }: PartSpec): string | undefined => (role.kind === 'container' ? role.specHash : undefined);

const identity = ({ metadata }: Pod): Pick<PartSpec, 'uid' | 'podName' | 'namespace'> => ({
  uid: metadata.uid,
  podName: metadata.name,
  namespace: metadata.namespace,
});

function observedSandbox({ id, attempt, createdAtMs, state, ips }: Part, { network }: PartRole & { kind: 'sandbox' }): ObservedSandbox {
  return { id: id as SandboxId, attempt, createdAtMs, ready: state.phase === 'running', network, ips };
}

function observedContainer(
  { id, name, attempt, createdAtMs, state, given }: Part,
  role: PartRole & { kind: 'container' },
): ObservedContainer {
  const { kind: _kind, sandbox: sandboxId, ...observed } = role;
  return {
    id: id as ContainerId,
    name,
    attempt,
    sandboxId: sandboxId as SandboxId,
    createdAtMs,
    state,
    cpuset: given.cpuset ?? '',
    ...observed,
  };
}
