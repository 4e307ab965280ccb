import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Mounts that do not answer, as those of a server that is gone: whoever looks at one hangs. Needs root and /dev/fuse, and fails without.
 * While one is hung, whoever looks can be killed, or with `unkillable` not even that.
 */
export class DeadMounts {
  readonly paths: readonly string[];
  readonly #server: ChildProcess;

  private constructor(paths: readonly string[], server: ChildProcess) {
    this.paths = paths;
    this.#server = server;
  }

  static async at(paths: readonly string[], hang: 'killable' | 'unkillable' = 'killable'): Promise<DeadMounts> {
    for (const path of paths) await mkdir(path, { recursive: true });
    const server = fork(join(import.meta.dirname, 'dead-mounts-server.ts'), [`--hang=${hang}`, ...paths], {
      // Each mount that is listened to holds a thread.
      env: { ...process.env, UV_THREADPOOL_SIZE: String(2 * paths.length + 4) },
    });
    const [said] = await Promise.race([once(server, 'message'), once(server, 'exit')]);
    if (said !== 'mounted') throw new Error(`no dead mounts can be made here: this needs root and /dev/fuse (exit code ${said})`);
    return new DeadMounts(paths, server);
  }

  /** From now on it answers: each directory in it has every other name below, as an empty directory. */
  answer(path: string): void {
    this.#server.send(path);
  }

  /** Unmounts all. Whoever still hangs is told that the connection has ended. */
  async close(): Promise<void> {
    const exited = once(this.#server, 'exit');
    this.#server.kill('SIGKILL');
    await exited;
    for (const path of this.paths) await run('umount', ['--lazy', '--no-canonicalize', path]).catch(() => undefined);
  }
}
