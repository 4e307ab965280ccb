import { randomBytes } from 'node:crypto';
import { Subject } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import type { PodUid } from '../../model/pod.ts';
import type { ContainerSpec, ContainerState, ObservedContainer, ObservedSandbox, SandboxSpec } from '../../ports/container-runtime.ts';
import { ContainerProcess, KILLED } from './container-process.ts';
import type { FakeConsole } from './fake-console.ts';
import type { Program } from './program.ts';

/** What a part is for: a pod's sandbox or one of its containers, with what `create` was given. */
export type PartRole =
  | { readonly kind: 'sandbox'; readonly network: ObservedSandbox['network'] }
  | ({ readonly kind: 'container'; readonly sandbox: string } & Pick<
      ObservedContainer,
      | 'image'
      | 'imageId'
      | 'imageNames'
      | 'specHash'
      | 'resources'
      | 'user'
      | 'stopSignal'
      | 'terminationGracePeriodSeconds'
      | 'deletionGracePeriodSeconds'
    >);

/** What the kernel would enforce. */
export type Given = Pick<SandboxSpec, 'cgroupParent' | 'handler'> &
  Partial<Pick<ContainerSpec, 'env' | 'mounts' | 'imageMounts' | 'devices' | 'cdiDevices' | 'annotations' | 'cpuset' | 'cpusetMems'>>;

export interface PartSpec {
  readonly uid: PodUid;
  readonly podName: string;
  readonly namespace: string;
  /** SANDBOX_NAME for a sandbox. */
  readonly name: string;
  readonly attempt: number;
  readonly role: PartRole;
  /** What it was given and nothing here acts on: for who asks. */
  readonly given: Given;
}

/** One sandbox or container as it is. */
export interface Part extends PartSpec {
  readonly id: string;
  readonly createdAtMs: number;
  readonly state: ContainerState;
  readonly ips: readonly string[];
}

interface Entry {
  part: Part;
  process: ContainerProcess | undefined;
  console: FakeConsole | undefined;
  /** Why it ends, where that is not to be read from the exit code. */
  reason: string | undefined;
  /** Called once when the process under way has ended, or is removed. */
  readonly onEnd: (() => void)[];
}

/** The first of 65,534 addresses, given round and round: 10.88.0.1 and on. */
function address(count: number): string {
  const host = (count % 65_534) + 1;
  return `10.88.${host >> 8}.${host & 255}`;
}

/**
 * The containers of the embedded engine and their processes.
 *
 * INVARIANTS
 * - A part's process exists exactly while its phase is `running`.
 * - Every change of a part is emitted on `changes`, after it has been made; a part whose `gone` is true was removed.
 */
export class FakeDaemon {
  readonly changes = new Subject<{ readonly part: Part; readonly gone: boolean }>();
  readonly #clock: Clock;
  /** In the order of their creation. */
  readonly #entries = new Map<string, Entry>();
  /** The same by pod: what is asked about one pod must not walk all of them. */
  readonly #byPod = new Map<PodUid, Map<string, Entry>>();
  #addresses = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Oldest first. */
  get parts(): readonly Part[] {
    return Array.from(this.#entries.values(), ({ part }) => part);
  }

  /** Of one pod, oldest first. */
  partsOf(uid: PodUid): readonly Part[] {
    return Array.from(this.#byPod.get(uid)?.values() ?? [], ({ part }) => part);
  }

  /** Pods that have parts. */
  get pods(): Iterable<PodUid> {
    return this.#byPod.keys();
  }

  get(id: string): Part | undefined {
    return this.#entries.get(id)?.part;
  }

  /** Undefined for what was never started, or has no streams. */
  console(id: string): FakeConsole | undefined {
    return this.#entries.get(id)?.console;
  }

  /** The part that holds the name which `spec` would take. */
  holder({ uid, name, attempt, role }: PartSpec): Part | undefined {
    return this.partsOf(uid).find((p) => p.name === name && p.attempt === attempt && p.role.kind === role.kind);
  }

  create(spec: PartSpec): Part {
    const id = randomBytes(32).toString('hex');
    const part: Part = { ...spec, id, createdAtMs: this.#clock.now(), state: { phase: 'created' }, ips: [] };
    const entry: Entry = { part, process: undefined, console: undefined, reason: undefined, onEnd: [] };
    this.#entries.set(id, entry);
    const ofPod = this.#byPod.get(spec.uid) ?? new Map<string, Entry>();
    this.#byPod.set(spec.uid, ofPod.set(id, entry));
    this.changes.next({ part, gone: false });
    return part;
  }

  /** Does nothing to what runs or is gone. */
  start(id: string, program: Program, console?: FakeConsole): void {
    const entry = this.#entries.get(id);
    if (!entry || entry.process) return;
    const process = new ContainerProcess(program, this.#clock, (code) => this.#exited(entry, code));
    entry.process = process;
    entry.console = console;
    if (console) console.onInput = () => process.input();
    const { role } = entry.part;
    const ips = role.kind === 'sandbox' && role.network === 'pod' ? [address(this.#addresses++)] : [];
    process.start();
    this.#set(entry, { ips, state: { phase: 'running', startedAtMs: this.#clock.now() } });
  }

  /** Does nothing to what is gone, or is a sandbox. */
  pin(id: string, cpuset: string): void {
    const entry = this.#entries.get(id);
    if (entry) this.#set(entry, { given: { ...entry.part.given, cpuset } });
  }

  update(id: string, resources: ObservedContainer['resources'] & {}): void {
    const entry = this.#entries.get(id);
    if (entry?.part.role.kind === 'container') this.#set(entry, { role: { ...entry.part.role, resources } });
  }

  /** As Docker leaves a container whose command it could not start. */
  cannotRun(id: string, message: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    const atMs = entry.part.createdAtMs;
    this.#set(entry, {
      state: { phase: 'exited', startedAtMs: atMs, finishedAtMs: atMs, exitCode: 127, reason: 'ContainerCannotRun', message },
    });
  }

  /** SIGTERM now and SIGKILL after `graceMs`; resolves when it has ended or is gone. An abort stops the waiting. */
  async stop(id: string, graceMs: number, signal: AbortSignal): Promise<void> {
    const entry = this.#entries.get(id);
    const process = entry?.process;
    if (!process) return;
    // Listened for before the signals are sent: the end may come at once.
    const ended = new Promise<void>((resolve) => entry.onEnd.push(resolve));
    if (graceMs > 0) {
      process.terminate();
      this.#killLater(entry, process, graceMs);
    } else process.kill();
    await unlessAborted(ended, signal);
  }

  /** Ends it from outside, in any way. */
  kill(id: string, exitCode = KILLED, reason?: string): void {
    const entry = this.#entries.get(id);
    if (!entry?.process) throw new Error(`no running container ${id}`);
    entry.reason = reason;
    entry.process.kill(exitCode);
  }

  remove(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    entry.process?.kill();
    this.#entries.delete(id);
    const { uid } = entry.part;
    const ofPod = this.#byPod.get(uid);
    ofPod?.delete(id);
    if (ofPod?.size === 0) this.#byPod.delete(uid);
    this.changes.next({ part: entry.part, gone: true });
  }

  killAll(): void {
    for (const { process } of this.#entries.values()) process?.kill();
  }

  #killLater(entry: Entry, process: ContainerProcess, graceMs: number): void {
    if (entry.process !== process) return;
    const timer = this.#clock.schedule(() => process.kill(), graceMs);
    entry.onEnd.push(() => timer.unsubscribe());
  }

  #exited(entry: Entry, exitCode: number): void {
    entry.process = undefined;
    const { state } = entry.part;
    const reason = entry.reason ?? (exitCode === 0 ? 'Completed' : 'Error');
    const startedAtMs = state.phase === 'running' ? state.startedAtMs : undefined;
    const message = entry.console?.terminationMessage(exitCode) ?? '';
    this.#set(entry, { state: { phase: 'exited', startedAtMs, finishedAtMs: this.#clock.now(), exitCode, reason, message }, ips: [] });
    for (const tell of entry.onEnd.splice(0)) tell();
  }

  #set(entry: Entry, change: Partial<Part>): void {
    entry.part = { ...entry.part, ...change };
    this.changes.next({ part: entry.part, gone: false });
  }
}
