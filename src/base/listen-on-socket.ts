import { once } from 'node:events';
import { chmod, lstat, mkdtemp, rename, rm } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { dirname, join } from 'node:path';

/**
 * Listens on a Unix socket that never has another mode: it is made in a directory of its own and put into place whole. A socket that nobody
 * answers on is taken for one that was left behind, and gives way. Resolves with what removes it again, unless another has taken its place
 * since. Rejects where another process answers there, where something other than a socket is in the way, and where the directory is missing.
 */
export async function listenOnSocket(server: Server, path: string, mode: number): Promise<() => Promise<void>> {
  await checkFree(path);
  let nursery: string | undefined;
  try {
    nursery = await mkdtemp(join(dirname(path), '.sock-'));
    const unborn = join(nursery, 's');
    server.listen(unborn);
    await once(server, 'listening');
    await chmod(unborn, mode);
    const { ino } = await lstat(unborn);
    await rename(unborn, path);
    return async () => {
      const now = await lstat(path).catch(() => undefined);
      if (now?.ino === ino) await rm(path, { force: true });
    };
  } catch (cause) {
    if (server.listening) server.close();
    throw new Error(`cannot make the socket ${path}`, { cause });
  } finally {
    if (nursery !== undefined) await rm(nursery, { recursive: true, force: true });
  }
}

/** Rejects where another process answers on the socket, or something other than a socket is there. */
export async function checkFree(path: string): Promise<void> {
  const there = await lstat(path).catch(() => undefined);
  if (there === undefined) return;
  if (!there.isSocket()) throw new Error(`${path} is in the way: it is no socket`);
  if (await isAnswered(path)) throw new Error(`another process listens on ${path}`);
}

async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
