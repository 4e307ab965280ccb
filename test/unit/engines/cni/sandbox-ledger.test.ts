import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { SandboxLedger } from '../../../../src/engines/cni/sandbox-ledger.ts';
import type { SandboxId } from '../../../../src/ports/container-runtime.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandbox-ledger-'));
});
afterEach(() => rm(directory, { recursive: true }));

test('an agent reads what the one before wrote, also where that was killed in the middle', async () => {
  const before = new SandboxLedger(directory);
  await before.put('one' as SandboxId, { name: 'web', namespace: 'default', connected: true });
  await before.put('two' as SandboxId, { name: 'db', namespace: 'default', connected: false });
  await before.remove('two' as SandboxId);
  await writeFile(join(directory, 'three.part'), '{"name":"we');
  await writeFile(join(directory, 'four'), '{"name":"we');
  assert.deepEqual(Object.fromEntries(await new SandboxLedger(directory).entries()), {
    one: { name: 'web', namespace: 'default', connected: true },
    four: { name: '', namespace: '', connected: false },
  });
});
