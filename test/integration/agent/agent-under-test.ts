import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { testEndpoint, testPauseImage } from '../../builders/docker-under-test.ts';
import { TestEngine } from './test-engine.ts';

const PATIENCE_MS = 60_000;
const NODE = 'n1';

export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

let serial = 0;

/** The agent as users start it, on manifests of its own. Every pod that a test declares begins with `prefix`, so that tests do not see each other's. */
export class AgentUnderTest {
  readonly engine = new TestEngine();
  readonly prefix = `t${process.pid}-${++serial}-`;
  readonly lines: LogLine[] = [];
  /** Lines that are no log records: what a user sees on a terminal, or a crash. */
  readonly output: string[] = [];
  readonly #dir: string;
  readonly #flags: readonly string[];
  #child: ChildProcess | undefined;
  #onLine: (line: LogLine) => void = () => {};

  private constructor(dir: string, flags: readonly string[]) {
    this.#dir = dir;
    this.#flags = flags;
  }

  /** Starts it; `flags` come after the usual ones. */
  static async start(...flags: string[]): Promise<AgentUnderTest> {
    const agent = await AgentUnderTest.prepare(...flags);
    agent.run();
    return agent;
  }

  static async prepare(...flags: string[]): Promise<AgentUnderTest> {
    const dir = await mkdtemp(join(tmpdir(), 'rxlet-agent-'));
    await mkdir(join(dir, 'manifests'));
    return new AgentUnderTest(dir, flags);
  }

  get manifests(): string {
    return join(this.#dir, 'manifests');
  }

  get rootDir(): string {
    return join(this.#dir, 'root');
  }

  run(): void {
    const flags = [
      `--pod-manifest-path=${this.manifests}`,
      `--root-dir=${this.rootDir}`,
      `--docker-endpoint=${testEndpoint}`,
      `--pod-infra-container-image=${testPauseImage}`,
      `--hostname-override=${NODE}`,
      '--log-format=json',
      '--v=4',
      ...this.#flags,
    ];
    this.#child = spawn(resolve(import.meta.dirname, '../../../bin/rxlet'), flags, { stdio: ['ignore', 'pipe', 'pipe'], cwd: this.#dir });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (text) => this.#take(text));
    }
  }

  #take(text: string): void {
    if (!text.startsWith('{')) {
      this.output.push(text);
      return;
    }
    const line = JSON.parse(text) as LogLine;
    this.lines.push(line);
    this.#onLine(line);
  }

  /** The pod's name as the engine knows it: manifests' names get the node's. */
  pod(name: string): string {
    return `${this.prefix}${name}-${NODE}`;
  }

  /** Writes a manifest as an editor that saves atomically does. `spec` is YAML in flow or block form, indented by two spaces. */
  async declare(name: string, spec: string, file = name): Promise<void> {
    await this.write(
      `${file}.yaml`,
      `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${this.prefix}${name}\nspec:\n  terminationGracePeriodSeconds: 1\n${spec}\n`,
    );
  }

  async write(file: string, text: string): Promise<void> {
    const draft = join(this.#dir, `.draft-${file}`);
    await writeFile(draft, text);
    await rename(draft, join(this.manifests, file));
  }

  async remove(file: string): Promise<void> {
    await rm(join(this.manifests, file));
  }

  /** A log line that was or will be written since `from`. */
  async logged(what: (line: LogLine) => boolean, from = 0): Promise<LogLine> {
    const seen = this.lines.slice(from).find(what);
    if (seen) return seen;
    return new Promise((found, reject) => {
      const timer = setTimeout(() => {
        const tail = [...this.output, ...this.lines.slice(from).map((line) => JSON.stringify(line))].slice(-30);
        reject(new Error(`no such log line within ${PATIENCE_MS / 1000} s: ${what}; the last ones\n${tail.join('\n')}`));
      }, PATIENCE_MS);
      this.#onLine = (line) => {
        if (!what(line)) return;
        clearTimeout(timer);
        this.#onLine = () => {};
        found(line);
      };
    });
  }

  get pid(): number {
    return this.#child?.pid ?? -1;
  }

  /** Ends the process and resolves with its exit code, or undefined after a signal. */
  async kill(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | undefined> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? undefined;
    const exited = once(child, 'exit');
    child.kill(signal);
    const [code] = (await exited) as [number | null];
    return code ?? undefined;
  }

  async exited(): Promise<number | undefined> {
    const child = this.#child;
    if (!child) return undefined;
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child.exitCode ?? undefined;
  }

  async dispose(): Promise<void> {
    await this.kill('SIGKILL');
    await this.engine.clear(this.prefix);
    await rm(this.#dir, { recursive: true, force: true });
  }
}
