import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, watch } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { V1Pod } from '@kubernetes/client-node';
import { systemClock } from '../../../src/base/clock.ts';
import { RuntimeService } from '../../../src/engines/cri/api/runtime_pb.js';
import { type CriClient, openCriClient } from '../../../src/engines/cri/client/cri-client.ts';
import { systemMounts } from '../../../src/volumes/mounts.ts';
import { aCgroupRoot, type CgroupRoot } from '../../builders/a-cgroup-root.ts';
import { criEndpoint } from '../../builders/engine-of-tests.ts';
import { inTime } from '../../builders/in-time.ts';
import { DISPOSED_WITHIN_MS, type Disposer, launcher, type LogLine } from '../agent/agent-under-test.ts';
import { Changes, type Found } from '../agent/changes.ts';
import { freePort } from '../agent/free-port.ts';

const examples = resolve(import.meta.dirname, '../../../manifests/examples');
const { listPodSandbox, listContainers, stopPodSandbox, removePodSandbox } = RuntimeService.method;

/** The agent as users start it, on a runtime that speaks CRI, of which it has all pods. */
export class CriAgent {
  readonly lines: LogLine[] = [];
  readonly #output: string[] = [];
  readonly #changes = new Changes();
  readonly #client: CriClient;
  /** Its pods' cgroups are below it; undefined: there are none on this machine. */
  readonly cgroups: CgroupRoot | undefined;
  readonly #port: number;
  readonly node: string;
  readonly dir: string;
  #child: ChildProcess | undefined;

  private constructor(client: CriClient, dir: string, node: string, port: number, cgroups: CgroupRoot | undefined) {
    this.#client = client;
    this.dir = dir;
    this.node = node;
    this.#port = port;
    this.cgroups = cgroups;
  }

  static async prepare(test: Disposer): Promise<CriAgent> {
    const tell = { engineCalled: () => {} };
    const client = openCriClient({
      endpoint: criEndpoint(),
      clock: systemClock,
      random: Math.random,
      requestTimeoutMs: 120_000,
      tell,
    });
    const dir = await mkdtemp(join(tmpdir(), 'rxlet-cri-agent-'));
    const agent = new CriAgent(client, dir, `n${process.pid}`, await freePort(), await aCgroupRoot());
    test.after(() => inTime(DISPOSED_WITHIN_MS, 'removing what the agent left', agent.#dispose()));
    await mkdir(agent.manifests);
    await mkdir(join(agent.rootDir, 'pods'), { recursive: true });
    agent.#watch(test);
    return agent;
  }

  get manifests(): string {
    return join(this.dir, 'manifests');
  }

  get rootDir(): string {
    return join(this.dir, 'root');
  }

  async declareExamples(): Promise<void> {
    for (const file of await readdir(examples)) if (file.endsWith('.yaml')) await cp(join(examples, file), join(this.manifests, file));
  }

  async declare(file: string, manifest: object): Promise<void> {
    await writeFile(join(this.manifests, file), JSON.stringify(manifest));
  }

  run(...flags: readonly string[]): void {
    const usual = [
      `--pod-manifest-path=${this.manifests}`,
      `--root-dir=${this.rootDir}`,
      `--container-runtime-endpoint=${criEndpoint()}`,
      `--hostname-override=${this.node}`,
      `--port=${this.#port}`,
      '--healthz-port=0',
      '--eviction-hard=memory.available<100Mi',
      '--image-gc-high-threshold=100',
      ...(this.cgroups ? [`--cgroup-root=${this.cgroups.path}`] : []),
      '--log-format=json',
    ];
    const child = spawn(launcher, [...usual, ...flags], { stdio: ['ignore', 'pipe', 'pipe'], cwd: this.dir });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', (line) => this.#take(line));
    const endWithTest = (): boolean => child.kill('SIGKILL');
    process.once('exit', endWithTest);
    child.once('exit', () => {
      process.removeListener('exit', endWithTest);
      this.#changes.tell();
    });
  }

  async kill(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    try {
      await this.until('the agent has ended', () => child.exitCode !== null || child.signalCode !== null);
    } catch (error) {
      child.kill('SIGKILL');
      throw new Error(`the agent did not end after ${signal}`, { cause: error });
    }
  }

  /** Looks whenever the agent said something, until `look` finds something. */
  until<T>(what: string, look: () => Found<T> | Promise<Found<T>>): Promise<T> {
    const log = (): readonly string[] => [...this.lines.map((line) => JSON.stringify(line)), ...this.#output].slice(-40);
    return this.#changes.until(what, look, async () => [...(await this.parts()), ...(await this.traces()), ...log()].join('\n'));
  }

  /** Whatever is waited for may have come: for those who hear of it elsewhere. */
  look(): void {
    this.#changes.tell();
  }

  logged(what: string, matches: (line: LogLine) => boolean, from = 0): Promise<LogLine> {
    return this.until(`the log line ${what}`, () => this.lines.slice(from).find(matches));
  }

  phase(pod: string, phase: string): Promise<LogLine> {
    const name = `default/${pod}-${this.node}`;
    return this.logged(`${pod} is ${phase}`, (line) => line.msg === 'pod phase changed' && line['pod'] === name && line['to'] === phase);
  }

  /** The pods as the agent reports them, by their names in their manifests. */
  async pods(): Promise<ReadonlyMap<string, V1Pod>> {
    const asked = request({ socketPath: join(this.rootDir, 'rxlet.sock'), path: '/pods' }).end();
    const [response] = await once(asked, 'response');
    const { items } = JSON.parse(await text(response)) as { readonly items: readonly V1Pod[] };
    return new Map(items.map((pod) => [(pod.metadata?.name ?? '').slice(0, -this.node.length - 1), pod]));
  }

  /** What `rxlet COMMAND …` prints. */
  async cli(command: string, ...args: readonly string[]): Promise<string> {
    return (await promisify(execFile)(launcher, [command, `--root-dir=${this.rootDir}`, ...args])).stdout;
  }

  /** What the runtime has, dead or alive: "sandbox web-n1 0", "app web-n1 0 ID". */
  async parts(): Promise<readonly string[]> {
    const { signal } = new AbortController();
    const [{ items }, { containers }] = await Promise.all([
      this.#client.call(listPodSandbox, {}, signal),
      this.#client.call(listContainers, {}, signal),
    ]);
    const ofThisNode = ({ labels }: { readonly labels: Readonly<Record<string, string>> }): boolean =>
      labels['io.kubernetes.pod.name']?.endsWith(`-${this.node}`) ?? false;
    return [
      ...items.filter(ofThisNode).map(({ id, metadata }) => `sandbox ${metadata?.name} ${metadata?.attempt} ${id}`),
      ...containers
        .filter(ofThisNode)
        .map(({ id, metadata, labels }) => `${metadata?.name} ${labels['io.kubernetes.pod.name']} ${metadata?.attempt} ${id}`),
    ].sort();
  }

  /** Files and directories that are there because of this agent's pods. */
  async traces(): Promise<readonly string[]> {
    const below = async (dir: string, mark: string): Promise<readonly string[]> =>
      (await readdir(dir).catch((): string[] => [])).filter((name) => name.includes(mark)).map((name) => join(dir, name));
    const own = `-${this.node}_`;
    return (
      await Promise.all([below('/var/log/pods', own), below('/var/log/containers', own), below(join(this.rootDir, 'pods'), '')])
    ).flat();
  }

  /** What goes may be said nowhere. */
  #watch(test: Disposer): void {
    for (const dir of ['/var/log/pods', '/var/log/containers', join(this.rootDir, 'pods')]) {
      mkdirSync(dir, { recursive: true });
      const watcher = watch(dir, () => this.#changes.tell());
      test.after(async () => watcher.close());
    }
  }

  #take(line: string): void {
    if (line.startsWith('{')) this.lines.push(JSON.parse(line) as LogLine);
    else this.#output.push(line);
    this.#changes.tell();
  }

  async #dispose(): Promise<void> {
    await this.kill('SIGKILL');
    const { signal } = new AbortController();
    for (const part of await this.parts()) {
      const [kind, , , podSandboxId = ''] = part.split(' ');
      if (kind !== 'sandbox') continue;
      await this.#client.call(stopPodSandbox, { podSandboxId }, signal);
      await this.#client.call(removePodSandbox, { podSandboxId }, signal);
    }
    this.#client.close();
    await this.cgroups?.remove();
    await systemMounts({ clock: systemClock }).unmountBelow(this.dir);
    for (const path of await this.traces()) await rm(path, { recursive: true, force: true });
    await rm(this.dir, { recursive: true, force: true });
  }
}
