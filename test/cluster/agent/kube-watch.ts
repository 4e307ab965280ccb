import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { kubeconfigOf } from '../../builders/cluster-under-test.ts';

interface WatchedObject {
  readonly metadata?: { readonly name?: string; readonly uid?: string };
}

export interface Seen<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
  readonly atMs: number;
}

/** What `kubectl get --watch` shows: the objects as they are, and all that was seen. */
export class KubeWatch<T extends WatchedObject> {
  readonly seen: Seen<T>[] = [];
  readonly #objects = new Map<string, T>();
  readonly #kubectl: ChildProcess;
  readonly #told: () => void;
  #document: string[] = [];

  /** `told` is called after each change. */
  constructor(args: readonly string[], told: () => void) {
    this.#told = told;
    const watch = ['--watch', '--output-watch-events', '-o', 'json'];
    this.#kubectl = spawn('kubectl', ['--kubeconfig', kubeconfigOf('admin'), 'get', ...args, ...watch], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (this.#kubectl.stdout) createInterface({ input: this.#kubectl.stdout }).on('line', (line) => this.#take(line));
  }

  /** By name. */
  get(name: string): T | undefined {
    return this.#objects.get(name);
  }

  list(): readonly T[] {
    return [...this.#objects.values()];
  }

  /** All that was seen of the object of this name, oldest first. */
  history(name: string): readonly Seen<T>[] {
    return this.seen.filter(({ object }) => object.metadata?.name === name);
  }

  async close(): Promise<void> {
    if (this.#kubectl.exitCode !== null || this.#kubectl.signalCode !== null) return;
    this.#kubectl.kill();
    await once(this.#kubectl, 'exit');
  }

  /** A document is one line, or many that are indented, by kubectl's version. */
  #take(line: string): void {
    this.#document.push(line);
    if (line !== '}' && !(line.startsWith('{"') && line.endsWith('}'))) return;
    const { type, object } = JSON.parse(this.#document.join('\n')) as Omit<Seen<T>, 'atMs'>;
    this.#document = [];
    const name = object.metadata?.name ?? '';
    if (type === 'DELETED') this.#objects.delete(name);
    else this.#objects.set(name, object);
    this.seen.push({ type, object, atMs: Date.now() });
    this.#told();
  }
}
