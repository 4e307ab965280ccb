import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { constants, setPriority, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { V1Pod } from '@kubernetes/client-node';

const root = resolve(import.meta.dirname, '../..');
/** More than the agent takes to serve on a busy machine. */
const START_MS = 60_000;

/** A real agent on the embedded engine, as users run it, with its page on a loopback port that the system chose. */
export class AgentWithPage {
  readonly #directory: string;
  #child: ChildProcess | undefined;
  #port = 0;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** In a directory of its own, with no pods yet. `close` ends it. */
  static async start(): Promise<AgentWithPage> {
    const agent = new AgentWithPage(await mkdtemp(join(tmpdir(), 'rxlet-page-')));
    await mkdir(agent.manifests);
    await agent.run();
    return agent;
  }

  get manifests(): string {
    return join(this.#directory, 'manifests');
  }

  get socketPath(): string {
    return join(this.#directory, 'root/rxlet.sock');
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/`;
  }

  /** From now on others on this machine come first: what the browser needs is measured, not how the two share the processors. */
  giveWay(): void {
    assert(this.#child?.pid !== undefined);
    setPriority(this.#child.pid, constants.priority.PRIORITY_LOW);
  }

  /** Once more, on the same port as before. */
  async run(): Promise<void> {
    const flags = [
      '--docker-endpoint=fake://',
      `--root-dir=${join(this.#directory, 'root')}`,
      `--pod-manifest-path=${this.manifests}`,
      `--page-address=127.0.0.1:${this.#port}`,
      '--hostname-override=node',
      '--enable-server=false',
      '--healthz-port=0',
      // One slow pull holds up no other.
      '--serialize-image-pulls=false',
      '--logging-format=json',
    ];
    const child = spawn(process.execPath, [join(root, 'dist/rxlet.js'), ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    assert(child.stderr);
    const said: string[] = [];
    const lines = createInterface({ input: child.stderr });
    const serving = Promise.withResolvers<number>();
    lines.on('line', (line) => {
      said.push(line);
      const entry: unknown = line.startsWith('{') ? JSON.parse(line) : {};
      if (typeof entry !== 'object' || entry === null || !('listener' in entry) || entry.listener !== 'page' || !('port' in entry)) return;
      serving.resolve(Number(entry.port));
    });
    child.once('exit', (code) => serving.reject(new Error(`the agent ended with ${code}: ${said.join('\n')}`)));
    const late = setTimeout(() => serving.reject(new Error(`the agent does not serve its page: ${said.join('\n')}`)), START_MS);
    try {
      this.#port = await serving.promise;
    } finally {
      clearTimeout(late);
    }
  }

  /** Its pods, and all that the engine played, end with it. */
  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }

  async close(): Promise<void> {
    await this.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** Puts the manifest into place whole. */
  async declare(...pods: readonly (Partial<V1Pod> & { readonly metadata: { readonly name: string } })[]): Promise<void> {
    await Promise.all(
      pods.map(async (pod) => {
        const text = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', ...pod });
        await this.write(`${pod.metadata.name}.json`, text);
      }),
    );
  }

  async write(name: string, text: string): Promise<void> {
    const unborn = join(this.manifests, `.${name}`);
    await writeFile(unborn, text);
    await rename(unborn, join(this.manifests, name));
  }
}

/** A pod with one container "app", that plays what `fake` says (docs/embedded-engine.md). */
export function playedPod(
  name: string,
  fake = '',
  more: Partial<NonNullable<V1Pod['spec']>> = {},
  annotations: Record<string, string> = {},
) {
  return {
    metadata: { name, annotations: { ...(fake === '' ? {} : { 'fake.rxlet.dev/app': fake }), ...annotations } },
    spec: { containers: [{ name: 'app', image: `registry.example/${name}:1` }], ...more },
  };
}
