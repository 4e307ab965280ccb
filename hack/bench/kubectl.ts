import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Runs kubectl as people do, its output counted and not kept. */
export class Kubectl {
  readonly #flags: readonly string[];

  constructor(kubeconfig: string) {
    this.#flags = [`--kubeconfig=${kubeconfig}`];
  }

  /** What it takes from its start to its end. Rejects when it fails, or when it does not print what is expected (undefined: anything). */
  async seconds(args: readonly string[], expectedBytes?: number): Promise<number> {
    const at = performance.now();
    const child = this.#spawn(args);
    let bytes = 0;
    child.stdout?.on('data', (chunk: Buffer) => (bytes += chunk.length));
    const [status] = await once(child, 'close');
    const seconds = (performance.now() - at) / 1000;
    if (status !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${status}`);
    if (expectedBytes !== undefined && bytes !== expectedBytes) {
      throw new Error(`kubectl ${args.join(' ')} printed ${bytes} bytes instead of ${expectedBytes}`);
    }
    return seconds;
  }

  /** Forwards a free local port. Resolves once it listens, with the port and the function that ends it. */
  async portForward(pod: string, port: number): Promise<{ readonly port: number; readonly stop: () => void }> {
    const child = this.#spawn(['port-forward', '--address=127.0.0.1', pod, `:${port}`]);
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    if (child.stdout === null) throw new Error('kubectl has no output');
    // All is read: a pipe that is full would stop it.
    const lines = createInterface({ input: child.stdout });
    const [line] = (await once(lines, 'line')) as [string];
    return {
      port: Number(/:(\d+) ->/.exec(line)?.[1]),
      stop: () => {
        process.off('exit', kill);
        child.kill();
      },
    };
  }

  #spawn(args: readonly string[]): ChildProcess {
    return spawn('kubectl', [...this.#flags, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  }
}
