import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SocketTree } from '../../../src/plugins/socket-tree.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

test('a directory that was removed and made again is heard, also where it is the same to the file system', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'rxlet-sockets-'));
  const tree = new SocketTree(root, new RecordingLogger());
  const server = createServer();
  t.after(() => {
    server.close();
    tree.close();
    rmSync(root, { recursive: true });
  });
  const signal = AbortSignal.timeout(5_000);
  const below = join(root, 'vendor');
  mkdirSync(below);
  await tree.look();
  for (let i = 0; i < 3; i++) {
    // Mostly it has the inode of before.
    rmdirSync(below);
    mkdirSync(below);
    await tree.changed(signal);
    await tree.look();
  }
  server.listen(join(below, 'socket'));
  await once(server, 'listening');
  let sockets = await tree.look();
  while (sockets.size === 0) {
    await tree.changed(signal);
    sockets = await tree.look();
  }
  // Nothing was missed of what it is heard by.
  server.close();
  while (sockets.size > 0) {
    await tree.changed(signal);
    sockets = await tree.look();
  }
  assert.deepEqual([...sockets], []);
});
