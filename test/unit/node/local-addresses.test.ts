import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readLocalAddresses } from '../../../src/node/host-addresses.ts';

test('addresses of every interface are found, those of one that is down too', async () => {
  const root = await mkdtemp(join(tmpdir(), 'rxlet-proc-'));
  await mkdir(join(root, 'proc/net'), { recursive: true });
  await writeFile(
    join(root, 'proc/net/fib_trie'),
    'Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 172.17.0.0\n        /16 link UNICAST\nLocal:\n     |-- 172.17.0.1\n        /32 host LOCAL\n     |-- 172.17.255.255\n        /32 link BROADCAST\n',
  );
  await writeFile(join(root, 'proc/net/if_inet6'), 'fd000000000000000000000000000002 04 40 00 82     eth0\n');
  assert.deepEqual(await readLocalAddresses({ root }), ['172.17.0.1', 'fd00:0000:0000:0000:0000:0000:0000:0002']);
  await rm(root, { recursive: true });
  assert.deepEqual(await readLocalAddresses({ root }), []);
});
