import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { freePort } from '../agent/free-port.ts';

const checkout = resolve(import.meta.dirname, '../../..');

test('hack/run.sh --engine fake plays the pods of a directory, keeps all it has in the root directory, and ends with Ctrl-C', async (t) => {
  const scratch = await mkdtemp(join(tmpdir(), 'rxlet-run-'));
  t.after(() => rm(scratch, { recursive: true }));
  const [manifests, root] = [join(scratch, 'manifests'), join(scratch, 'root')];
  await mkdir(manifests);
  await copyFile(join(checkout, 'manifests/examples/web.yaml'), join(manifests, 'web.yaml'));
  const flags = ['--engine', 'fake', '--manifests', manifests, '--root-dir', root];
  const port = await freePort();
  const run = spawn('hack/run.sh', [...flags, '--', `--port=${port}`, `--healthz-port=${await freePort(port)}`, '--log-format=json'], {
    cwd: checkout,
    // Ctrl-C reaches the whole group.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(run, 'close');
  let stopped = false;
  const lines: string[] = [];
  const awaited = new Set(['"to":"Running"', '"msg":"a self-signed serving certificate is made"']);
  createInterface(run.stderr).on('line', (line) => {
    lines.push(line);
    for (const part of awaited) if (line.includes(part)) awaited.delete(part);
    if (awaited.size === 0 && !stopped && run.pid !== undefined) stopped = process.kill(-run.pid, 'SIGINT');
  });
  assert.deepEqual(await ended, [0, null], lines.join('\n'));
  assert.deepEqual((await readdir(join(root, 'pki'))).sort(), ['kubelet.crt', 'kubelet.key']);
});
