import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface Smallness {
  /** Of V8's heap, in MiB. */
  readonly heapMiB: number;
  /** How many files it may have open. */
  readonly descriptors: number;
}

/** Runs a module, given as text, in a Node.js process of its own that has little. Resolves with what it printed; rejects when it fails. */
export async function runInSmallProcess(module: string, { heapMiB, descriptors }: Smallness, signal?: AbortSignal): Promise<string> {
  const node = [process.execPath, `--max-old-space-size=${heapMiB}`, '--input-type=module', '-e', module];
  const { stdout } = await execute('sh', ['-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh', ...node], {
    killSignal: 'SIGKILL',
    ...(signal && { signal }),
  });
  return stdout;
}
