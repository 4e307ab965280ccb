import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';
import type { V1PodSpec } from '@kubernetes/client-node';
import { aCgroupRoot, type CgroupRoot } from '../../builders/a-cgroup-root.ts';
import { inTime } from '../../builders/in-time.ts';
import { endpointOfTests, engineOfTests } from '../../builders/engine-of-tests.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { systemMounts } from '../../../src/volumes/mounts.ts';
import { Changes, type Found } from './changes.ts';
import { freePort } from './free-port.ts';
import { CriTestEngine } from './cri-test-engine.ts';
import { DockerTestEngine } from './docker-test-engine.ts';
import type { EngineContainer, TestEngine } from './test-engine.ts';

export const NODE = 'n1';
/** How long it may take to remove what a test leaves: many containers, on a busy machine. */
export const DISPOSED_WITHIN_MS = 180_000;
const LOG_DIRS = ['/var/log/pods', '/var/log/containers'];

/** RXLET_TEST_LAUNCHER tests another build, such as an installed package. */
export const launcher = process.env['RXLET_TEST_LAUNCHER'] ?? resolve(import.meta.dirname, '../../../bin/rxlet');

export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

/** A test, or what stands for several. */
export interface Disposer {
  after(dispose: () => Promise<void>): void;
}

let serial = 0;
let claim: Server | undefined;

/** Agents end each other's pods: no second test process on one engine, until this one ends. The kernel keeps the name. */
export async function claimEngine(): Promise<void> {
  if (claim) return;
  const server = createServer().unref();
  server.listen(`\0rxlet agent tests ${endpointOfTests()}`);
  await once(server, 'listening').catch((cause: unknown) => {
    throw new Error(`other tests run agents on ${endpointOfTests()} at this moment`, { cause });
  });
  claim = server;
}

export const openTestEngine = (prefix: string, changes: Changes): TestEngine =>
  engineOfTests === 'cri' ? new CriTestEngine(prefix, changes) : new DockerTestEngine(prefix, changes);

/** The agent as users start it, on manifests of its own. Every pod that it is told of begins with `prefix`, so that tests do not see each other's. */
export class AgentUnderTest {
  readonly prefix = `t${process.pid}-${++serial}-`;
  readonly #changes = new Changes();
  readonly engine: TestEngine = openTestEngine(this.prefix, this.#changes);
  readonly lines: LogLine[] = [];
  /** Lines that are no log records: what a user sees on a terminal, or a crash. */
  readonly output: string[] = [];
  readonly #dir: string;
  /** Of its own server: the usual one may be taken on this machine. */
  readonly port: number;
  /** Its pods' cgroups are below it; undefined: there are none on this machine. */
  readonly cgroups: CgroupRoot | undefined;
  /** Which build of it runs from the next start on. */
  launcher = launcher;
  #flags: readonly string[];
  #child: ChildProcess | undefined;

  private constructor(dir: string, port: number, cgroups: CgroupRoot | undefined, flags: readonly string[]) {
    this.#dir = dir;
    this.cgroups = cgroups;
    this.port = port;
    this.#flags = flags;
  }

  /** Starts it until the end of the test, when nothing of it is left; `flags` come after the usual ones. */
  static async start(test: Disposer, ...flags: string[]): Promise<AgentUnderTest> {
    const agent = await AgentUnderTest.prepare(test, ...flags);
    agent.run();
    return agent;
  }

  static async prepare(test: Disposer, ...flags: string[]): Promise<AgentUnderTest> {
    await claimEngine();
    const dir = await mkdtemp(join(tmpdir(), 'rxlet-agent-'));
    const agent = new AgentUnderTest(dir, await freePort(), await aCgroupRoot(), flags);
    test.after(() => inTime(DISPOSED_WITHIN_MS, 'removing what the agent left', agent.#dispose()));
    await mkdir(agent.manifests);
    await mkdir(agent.rootDir);
    await agent.engine.listen();
    return agent;
  }

  get dir(): string {
    return this.#dir;
  }

  get manifests(): string {
    return join(this.#dir, 'manifests');
  }

  get rootDir(): string {
    return join(this.#dir, 'root');
  }

  get pid(): number {
    return this.#child?.pid ?? -1;
  }

  /** Starts the process, with other flags where given. */
  run(...flags: string[]): void {
    if (flags.length > 0) this.#flags = flags;
    const usual = [
      `--pod-manifest-path=${this.manifests}`,
      `--root-dir=${this.rootDir}`,
      ...this.engine.agentFlags,
      `--hostname-override=${NODE}`,
      `--port=${this.port}`,
      '--healthz-port=0',
      // A machine whose disk is nearly full is not what is tested.
      '--eviction-hard=memory.available<100Mi',
      '--image-gc-high-threshold=100',
      ...(this.cgroups ? [`--cgroup-root=${this.cgroups.path}`] : []),
      '--log-format=json',
      '--v=4',
    ];
    const child = spawn(this.launcher, [...usual, ...this.#flags], { stdio: ['ignore', 'pipe', 'pipe'], cwd: this.#dir });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', (text) => this.#take(text));
    // An agent that outlives its test would end the pods of all tests after it.
    const endWithTest = (): boolean => child.kill('SIGKILL');
    process.once('exit', endWithTest);
    child.once('exit', () => {
      process.removeListener('exit', endWithTest);
      this.#changes.tell();
    });
  }

  /** Ends the process and resolves with its exit code, or undefined after a signal. One that does not end is killed, and the test fails. */
  async kill(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | undefined> {
    if (this.#alive) this.#child?.kill(signal);
    try {
      return await this.exited();
    } catch (error) {
      this.#child?.kill('SIGKILL');
      throw new Error(`the agent did not end after ${signal}`, { cause: error });
    }
  }

  async exited(): Promise<number | undefined> {
    await this.until('the agent has ended', () => !this.#alive);
    return this.#child?.exitCode ?? undefined;
  }

  /** The pod's name as the engine knows it: manifests' names get the node's. */
  pod(name: string): string {
    return `${this.prefix}${name}-${NODE}`;
  }

  /** Writes a manifest as an editor that saves atomically does. */
  async declare(name: string, spec: V1PodSpec, { file = name, metadata = {} }: DeclareOptions = {}): Promise<void> {
    await this.write(`${file}.yaml`, this.manifest(name, spec, metadata));
  }

  manifest(name: string, spec: V1PodSpec, metadata: object = {}): string {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: `${this.prefix}${name}`, ...metadata }, spec };
    // YAML 1.1 is what a kubelet reads: there `yes` has to be quoted.
    return stringify(pod, { aliasDuplicateObjects: false, version: '1.1' });
  }

  async write(file: string, text: string): Promise<void> {
    const draft = join(this.#dir, `draft-${file}`);
    await writeFile(draft, text);
    await rename(draft, join(this.manifests, file));
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.manifests, `${name}.yaml`));
  }

  /** Looks whenever the engine or the agent said something, until `look` finds something. */
  until<T>(what: string, look: () => Found<T> | Promise<Found<T>>): Promise<T> {
    return this.#changes.until(what, look, () => this.#seen());
  }

  /** Whatever is waited for may have come: for those who hear of it elsewhere. */
  look(): void {
    this.#changes.tell();
  }

  /** The same patience with what others promise. */
  async within<T>(what: string, promise: Promise<T>): Promise<void> {
    let done = false;
    const settled = promise.then(() => {
      done = true;
      this.#changes.tell();
    });
    await Promise.race([this.until(what, () => done), settled]);
  }

  /** A log line that was or will be written, after the first `from`. */
  logged(what: string, matches: (line: LogLine) => boolean, from = 0): Promise<LogLine> {
    return this.until(`the log line ${what}`, () => this.lines.slice(from).find(matches));
  }

  phase(name: string, phase: string, from = 0): Promise<LogLine> {
    const pod = `default/${this.pod(name)}`;
    return this.logged(
      `${name} is ${phase}`,
      (line) => line.msg === 'pod phase changed' && line['pod'] === pod && line['to'] === phase,
      from,
    );
  }

  async containers(name: string): Promise<readonly EngineContainer[]> {
    return (await this.engine.containers()).filter(({ pod }) => pod === this.pod(name));
  }

  /** Waits until exactly these containers of the pod run in one sandbox, and answers them by name; the sandbox is "POD". */
  async up(name: string, containers: readonly string[] = ['app']): Promise<Readonly<Record<string, EngineContainer>>> {
    return this.until(`pod ${name} runs ${containers.join(', ')}`, async () => {
      const running = (await this.containers(name)).filter(({ state }) => state === 'running');
      const names = running.map(({ container }) => container).sort();
      if (names.join() !== ['POD', ...containers].sort().join()) return undefined;
      return Object.fromEntries(running.map((container) => [container.container, container]));
    });
  }

  /** Waits until the engine has nothing of the pod and the agent is through with it. */
  async gone(name: string): Promise<void> {
    await this.until(`pod ${name} is gone`, async () => (await this.containers(name)).length === 0);
    await this.logged(
      `${name} has ended`,
      ({ msg, pod, life, next, failed }) =>
        msg === 'reconciled' && String(pod).endsWith(this.pod(name)) && life === 'terminating' && next === 'on change' && !failed,
    );
  }

  /** Files and directories that are there because of this agent's pods. */
  async traces(name = '', uid = ''): Promise<readonly string[]> {
    const prefix = name === '' ? this.prefix : this.pod(name);
    const logs = await Promise.all(
      LOG_DIRS.map(async (dir) => (await readdir(dir).catch(() => [])).filter((entry) => entry.includes(prefix)).map((e) => join(dir, e))),
    );
    const pods = join(this.rootDir, 'pods');
    return [...logs.flat(), ...(await readdir(pods).catch(() => [])).filter((each) => each.includes(uid)).map((each) => join(pods, each))];
  }

  get #alive(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  #take(text: string): void {
    if (text.startsWith('{')) this.lines.push(JSON.parse(text) as LogLine);
    else this.output.push(text);
    this.#changes.tell();
  }

  async #seen(): Promise<string> {
    const containers = await this.engine.containers().catch((error: unknown) => [{ name: String(error), state: '' }]);
    return [
      `the agent ${this.#alive ? 'runs' : 'does not run'}; the engine has`,
      ...containers.map(({ name, state }) => `  ${name} ${state}`),
      'and the log ends with',
      ...[...this.lines.slice(-25).map((line) => JSON.stringify(line)), ...this.output.slice(-10)].map((line) => `  ${line}`),
    ].join('\n');
  }

  async #dispose(): Promise<void> {
    await this.kill('SIGKILL');
    await this.engine.dispose();
    await this.cgroups?.remove();
    // An agent that was killed leaves its pods' volumes mounted.
    await systemMounts({ clock: systemClock }).unmountBelow(this.#dir);
    for (const path of await this.traces()) await rm(path, { recursive: true, force: true });
    await rm(this.#dir, { recursive: true, force: true });
  }
}

export interface DeclareOptions {
  /** The manifest's name without its ending; the pod's by default. */
  readonly file?: string;
  readonly metadata?: object;
}
