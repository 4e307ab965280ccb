import { once } from 'node:events';
import { chmod, lstat, mkdtemp, rename, rm } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { join } from 'node:path';
import { LOCAL_SOCKET_NAME } from '../base/local-socket-name.ts';
import { ListenError } from './listen.ts';

/**
 * Listens on a socket that only its owner can reach, at every moment: it is made in a directory of its own and put into place whole. What an
 * agent left behind gives way; a socket that is answered is another agent's, and anything else is a file of others. Resolves with what
 * removes it. Rejects with ListenError.
 */
export async function listenLocally(server: Server, directory: string): Promise<() => Promise<void>> {
  const path = join(directory, LOCAL_SOCKET_NAME);
  await checkFree(path);
  let nursery: string | undefined;
  try {
    nursery = await mkdtemp(join(directory, '.sock-'));
    const unborn = join(nursery, 's');
    server.listen(unborn);
    await once(server, 'listening');
    await chmod(unborn, 0o600);
    const { ino } = await lstat(unborn);
    await rename(unborn, path);
    return async () => {
      const now = await lstat(path).catch(() => undefined);
      if (now?.ino === ino) await rm(path, { force: true });
    };
  } catch (cause) {
    throw new ListenError(`cannot make the local socket ${path}`, { cause });
  } finally {
    if (nursery !== undefined) await rm(nursery, { recursive: true, force: true });
  }
}

async function checkFree(path: string): Promise<void> {
  const there = await lstat(path).catch(() => undefined);
  if (there === undefined) return;
  if (!there.isSocket()) throw new ListenError(`${path} is in the way of the local socket: it is no socket`);
  if (await isAnswered(path)) throw new ListenError(`another agent listens on ${path}`);
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
