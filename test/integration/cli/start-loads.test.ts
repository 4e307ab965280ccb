// What a start loads is most of what it costs. Whatever comes in again is found here by its size, without a clock.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../agent/free-port.ts';

const launcher = resolve(import.meta.dirname, '../../../bin/rxlet');
const hook = resolve(import.meta.dirname, '../../builders/loaded-modules.ts');
const dist = resolve(import.meta.dirname, '../../../dist');
const scratch = mkdtempSync(join(tmpdir(), 'rxlet-loads-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

const manifests = join(scratch, 'manifests');
mkdirSync(manifests);
writeFileSync(
  join(manifests, 'pod.json'),
  JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'cold' }, spec: { containers: [{ name: 'app', image: 'busybox' }] } }),
);
const agent = [
  '--docker-endpoint=fake://',
  `--root-dir=${join(scratch, 'root')}`,
  `--pod-manifest-path=${manifests}`,
  '--cgroups-per-qos=false',
  '--enforce-node-allocatable=',
  '--v=4',
];

interface Loaded {
  readonly files: number;
  readonly kilobytes: number;
}

/** What of the build the program loads until it ends, which it is asked to when a line of its log says `until`. */
async function loadedBy(flags: readonly string[], until?: string): Promise<Loaded> {
  const list = join(scratch, 'modules');
  const env = { ...process.env, NODE_OPTIONS: `--import=${hook}`, LOADED_MODULES: list };
  const child = spawn(launcher, flags, { env, stdio: ['ignore', 'ignore', 'pipe'], timeout: 60_000 });
  const log: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    log.push(line);
    if (until !== undefined && line.includes(until)) child.kill('SIGTERM');
  }
  if (child.exitCode === null) await new Promise((exited) => child.once('exit', exited));
  assert.equal(child.exitCode, 0, log.join('\n'));
  if (until !== undefined)
    assert.ok(
      log.some((line) => line.includes(until)),
      log.join('\n'),
    );
  const urls = new Set(readFileSync(list, 'utf8').split('\n'));
  const files = [...urls]
    .filter((url) => url.startsWith('file:'))
    .map((url) => fileURLToPath(url))
    .filter((path) => path.startsWith(dist));
  return { files: files.length, kilobytes: files.reduce((sum, path) => sum + statSync(path).size, 0) / 1024 };
}

function assertWithin(loaded: Loaded, most: Loaded): void {
  assert.ok(loaded.files > 1, 'nothing of dist was loaded: npm run build');
  assert.ok(
    loaded.files <= most.files && loaded.kilobytes <= most.kilobytes,
    `${loaded.files} files of ${loaded.kilobytes.toFixed(0)} KB are loaded: at most ${most.files} of ${most.kilobytes} KB should be`,
  );
}

test('--version loads the command line alone', async () => {
  assertWithin(await loadedBy(['--version']), { files: 4, kilobytes: 190 });
});

test('--runonce loads nothing of what serves', async () => {
  assertWithin(await loadedBy([...agent, '--runonce']), { files: 18, kilobytes: 970 });
});

test('an agent that serves, with pods of manifests, loads no client of a cluster or of another engine', async () => {
  const flags = [`--port=${await freePort()}`, '--healthz-port=0'];
  assertWithin(await loadedBy([...agent, ...flags], 'reconciled'), { files: 26, kilobytes: 1285 });
});
