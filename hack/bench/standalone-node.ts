import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { aCgroupRoot, type CgroupRoot } from '../../test/builders/a-cgroup-root.ts';
import { AgentProcess } from './agent-process.ts';
import { hack, pause, quantile } from './cluster-nodes.ts';
import { rawCri } from './raw-cri.ts';
import { rawDocker } from './raw-docker.ts';
import type { RawRuntime } from './raw-runtime.ts';

const APP = 'busybox:1.35';

/** An agent writes its cache of compiled code 15 s after it began, which takes longer than a minute of rest. */
const SETTLED_AFTER_MS = 20_000;

/** Another build than this checkout's, or flags that come after the usual ones. */
export interface AgentUnderBench {
  readonly checkout?: string;
  readonly flags?: readonly string[];
}

/** An agent that has pods from a manifest directory only, on an engine of its own. One agent at a time. */
export class StandaloneNode {
  readonly engine: RawRuntime;
  readonly #dir = mkdtempSync(join(tmpdir(), 'rxlet-bench-'));
  readonly #manifests = join(this.#dir, 'manifests');
  readonly #flags: readonly string[];
  /** Of its own: other agents of this machine remove what they do not know from the usual one. */
  readonly #cgroups: CgroupRoot | undefined;
  readonly #started = new Map<string, (atMs: number) => void>();
  #stopWatching = (): void => {};
  #agent: AgentProcess | undefined;

  /** `endpoint`: of the engine, '' for the benchmarks' own. Rejects where the engine has containers. */
  static async open(endpoint: string, speaks: 'docker' | 'cri' = 'docker'): Promise<StandaloneNode> {
    const engine =
      speaks === 'docker'
        ? rawDocker(endpoint || hack('docker.sh', 'up', '/var/lib/rxlet-test-engine'))
        : rawCri(endpoint || hack('containerd.sh', 'up', '/var/lib/rxlet-test-containerd'));
    const node = new StandaloneNode(engine, await aCgroupRoot());
    if ((await engine.count()) > 0) throw new Error('the engine has containers: the benchmark wants one to itself');
    node.#stopWatching = await node.engine.watchStarts((pod, heardAtMs) => node.#started.get(pod)?.(heardAtMs));
    return node;
  }

  private constructor(engine: RawRuntime, cgroups: CgroupRoot | undefined) {
    this.#cgroups = cgroups;
    this.engine = engine;
    mkdirSync(this.#manifests);
    this.#flags = [
      `--pod-manifest-path=${this.#manifests}`,
      `--root-dir=${join(this.#dir, 'root')}`,
      ...engine.agentFlags,
      ...(cgroups ? [`--cgroup-root=${cgroups.path}`] : []),
    ];
  }

  /**
   * From exec to the first reconcile that was done, in ms, `times` times; then this agent runs, without pods. The first start fills the
   * compile cache and is not counted.
   */
  async start(times: number, { checkout, flags = [] }: AgentUnderBench = {}): Promise<readonly number[]> {
    this.#declare('cold');
    const tookMs: number[] = [];
    for (let i = 0; i <= times; i++) {
      const at = performance.now();
      this.#agent = new AgentProcess([...this.#flags, ...flags, '--v=4'], checkout);
      await this.#agent.logLine((line) => line.includes('"reconciled"'));
      if (i > 0) tookMs.push(performance.now() - at);
      await this.stop();
    }
    this.#agent = new AgentProcess([...this.#flags, ...flags], checkout);
    await this.remove(['cold']);
    return tookMs;
  }

  async stop(): Promise<void> {
    await this.#agent?.stop();
    this.#agent = undefined;
  }

  /** From the first manifest until the last pod's app has started, in ms. */
  async run(names: readonly string[]): Promise<number> {
    const all = Promise.all(names.map((name) => this.#appStarted(name)));
    const at = performance.now();
    for (const name of names) this.#declare(name);
    return Math.max(...(await all)) - at;
  }

  /** Resolves when the engine has nothing any more. */
  async remove(names: readonly string[]): Promise<void> {
    for (const name of names) unlinkSync(join(this.#manifests, `${name}.yaml`));
    while ((await this.engine.count()) > 0) await pause(200);
  }

  /** What the agent takes while nothing happens, `seconds` long. */
  async atRest(seconds: number): Promise<{ readonly cpuPercent: number; readonly rssMiB: number; readonly maxRssMiB: number }> {
    const agent = this.#agent;
    if (agent === undefined) throw new Error('no agent is running');
    await pause(Math.max(5000, SETTLED_AFTER_MS - agent.ageMs()));
    const cpu = agent.cpuSeconds();
    const rss: number[] = [];
    for (let i = 0; i < seconds; i++) {
      await pause(1000);
      rss.push(agent.rssMiB());
    }
    return { cpuPercent: ((agent.cpuSeconds() - cpu) / seconds) * 100, rssMiB: quantile(rss, 0.5), maxRssMiB: Math.max(...rss) };
  }

  async close(): Promise<void> {
    for (const file of readdirSync(this.#manifests)) unlinkSync(join(this.#manifests, file));
    await this.stop();
    this.#stopWatching();
    this.engine.close();
    await this.#cgroups?.remove();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Renamed into place, so that the agent never reads half of it. */
  #declare(name: string): void {
    writeFileSync(join(this.#dir, name), manifest(name));
    renameSync(join(this.#dir, name), join(this.#manifests, `${name}.yaml`));
  }

  #appStarted(name: string): Promise<number> {
    return new Promise((done) => this.#started.set(`${name}-${hostname().toLowerCase()}`, done));
  }
}

const manifest = (name: string): string => `apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: default}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: app
    image: ${APP}
    imagePullPolicy: IfNotPresent
    command: [sh, -c, "trap 'exit 0' TERM; sleep 100000 & wait"]
    resources: {requests: {cpu: 1m, memory: 8Mi}, limits: {memory: 64Mi}}
`;
