import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { kubeconfigOf } from '../../builders/cluster-under-test.ts';
import type { Disposer } from '../../integration/agent/agent-under-test.ts';
import type { ClusterNode } from './cluster-node.ts';

export interface Kubectl {
  /** "1.20", or "1.32". */
  readonly version: string;
  readonly path: string;
}

/** The kubectl on PATH, and those that RXLET_TEST_KUBECTL names, with colons between them: one of each version. */
export function kubectls(): readonly Kubectl[] {
  const paths = ['kubectl', ...(process.env['RXLET_TEST_KUBECTL'] ?? '').split(':').filter((path) => path !== '')];
  const found = paths.map((path) => {
    const text = execFileSync(path, ['version', '--client', '-o', 'json'], { encoding: 'utf8' });
    const { clientVersion } = JSON.parse(text) as { clientVersion: { major: string; minor: string } };
    return { version: `${clientVersion.major}.${Number.parseInt(clientVersion.minor, 10)}`, path };
  });
  return [...new Map(found.map((kubectl) => [kubectl.version, kubectl])).values()];
}

export interface Ran {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line of a kubectl that works as the administrator in the node's namespace. */
export const kubectlWords = (kubectl: Kubectl, node: ClusterNode, args: readonly string[]): readonly string[] => [
  kubectl.path,
  '--kubeconfig',
  kubeconfigOf('admin'),
  '-n',
  node.namespace,
  ...args,
];

/** A kubectl that runs, and what it has printed so far. */
export class KubectlProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #node: ClusterNode;
  readonly #args: readonly string[];
  readonly #stdout: Buffer[] = [];
  readonly #stderr: Buffer[] = [];

  private constructor(kubectl: Kubectl, node: ClusterNode, args: readonly string[]) {
    this.#node = node;
    this.#args = args;
    const [path = '', ...words] = kubectlWords(kubectl, node, args);
    this.#child = spawn(path, words);
    this.#child.stdout.on('data', (bytes: Buffer) => this.#take(this.#stdout, bytes));
    this.#child.stderr.on('data', (bytes: Buffer) => this.#take(this.#stderr, bytes));
    // One that ends without reading breaks its input's pipe.
    this.#child.stdin.on('error', () => {});
    this.#child.once('close', () => node.agent.look());
  }

  /** Runs until it ends, or the test does. Its input is open. */
  static start(test: Disposer, kubectl: Kubectl, node: ClusterNode, ...args: readonly string[]): KubectlProcess {
    const started = new KubectlProcess(kubectl, node, args);
    test.after(() => started.kill());
    return started;
  }

  /** Runs to its end, on this input. */
  static async run(kubectl: Kubectl, node: ClusterNode, args: readonly string[], input: string | Buffer = ''): Promise<Ran> {
    const started = new KubectlProcess(kubectl, node, args);
    started.end(input);
    return started.ended();
  }

  get stdout(): string {
    return Buffer.concat(this.#stdout).toString();
  }

  get stderr(): string {
    return Buffer.concat(this.#stderr).toString();
  }

  write(text: string): void {
    this.#child.stdin.write(text);
  }

  end(text: string | Buffer = ''): void {
    this.#child.stdin.end(text);
  }

  /** Waits until its standard output, or error, matches, and answers the match. */
  async prints(what: RegExp, stream: 'stdout' | 'stderr' = 'stdout'): Promise<RegExpExecArray> {
    const found = await this.#node.until(`kubectl ${this.#args.join(' ')} prints ${what}`, () => {
      const match = what.exec(this[stream]);
      if (match === null && this.#hasEnded) throw new Error(`it printed ${JSON.stringify([this.stdout, this.stderr])}`);
      return match ?? undefined;
    });
    return found;
  }

  async ended(): Promise<Ran> {
    await this.#node.until(`kubectl ${this.#args.join(' ')} has ended`, () => this.#hasEnded);
    return { code: this.#child.exitCode ?? undefined, stdout: this.stdout, stderr: this.stderr };
  }

  /** As somebody who presses Ctrl-C. */
  async kill(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    if (this.#hasEnded) return;
    const closed = once(this.#child, 'close');
    this.#child.kill(signal);
    await closed;
  }

  get #hasEnded(): boolean {
    return (this.#child.exitCode !== null || this.#child.signalCode !== null) && this.#child.stdout.closed && this.#child.stderr.closed;
  }

  #take(into: Buffer[], bytes: Buffer): void {
    into.push(bytes);
    this.#node.agent.look();
  }
}
