import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { readDefaultRouteAddresses } from '../../../src/node/host-addresses.ts';
import { readFileSystemBytes, readMachineFacts, readOsImage } from '../../../src/base/machine-facts.ts';

const roots: string[] = [];
after(async () => {
  for (const root of roots) await rm(root, { recursive: true });
});

async function machine(files: Readonly<Record<string, string>>): Promise<{ root: string }> {
  const root = await mkdtemp(join(tmpdir(), 'machine-'));
  roots.push(root);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return { root };
}

const meminfo = { 'proc/meminfo': 'MemFree:  1 kB\nMemTotal:       16301 kB\nSwapTotal:       512 kB\n' };

test('a machine is read from /proc, /sys and /etc', async () => {
  const paths = await machine({
    ...meminfo,
    'sys/devices/system/cpu/online': '0-3,8\n',
    'etc/machine-id': 'abc\n',
    'sys/class/dmi/id/product_uuid': 'DEF\n',
    'proc/sys/kernel/random/boot_id': 'boot\n',
    'sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages': '512\n',
    'sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages': '0\n',
  });
  assert.deepEqual(await readMachineFacts(paths), {
    cores: 5,
    memoryBytes: 16_301 * 1024,
    swapBytes: 512 * 1024,
    machineId: 'abc',
    systemUuid: 'DEF',
    bootId: 'boot',
    hugePages: [
      { pageSizeKiB: 1_048_576, pages: 0 },
      { pageSizeKiB: 2048, pages: 512 },
    ],
  });
});

test('ids may be in other files, of which the first that can be read counts', async () => {
  const paths = await machine({
    ...meminfo,
    'sys/devices/system/cpu/online': '0',
    'etc/machine-id': 'abc',
    'opt/id': 'other',
    'opt/boot': 'b2',
  });
  const files = { machineIdFiles: ['/opt/gone', '/opt/id', '/etc/machine-id'], bootIdFiles: ['/opt/boot'] };
  const { machineId, bootId } = await readMachineFacts({ ...paths, ...files });
  assert.deepEqual([machineId, bootId], ['other', 'b2']);
});

test('what a machine does not say is empty, but for processors and memory', async () => {
  const paths = await machine({
    'proc/meminfo': 'MemTotal: 16301 kB\n',
    'proc/cpuinfo': 'processor\t: 0\nx: 1\nprocessor\t: 1\n',
    'var/lib/dbus/machine-id': 'dbus',
  });
  const facts = await readMachineFacts(paths);
  assert.deepEqual(facts, {
    cores: 2,
    memoryBytes: 16_301 * 1024,
    swapBytes: 0,
    machineId: 'dbus',
    systemUuid: '',
    bootId: '',
    hugePages: [],
  });
  await assert.rejects(readMachineFacts(await machine({ 'sys/devices/system/cpu/online': '0' })), { code: 'ENOENT' });
  await assert.rejects(readMachineFacts(await machine({ ...meminfo, 'proc/cpuinfo': '' })), /names no processor/);
});

test("the operating system's name, from either place, quoted or not", async () => {
  assert.equal(
    await readOsImage(await machine({ 'etc/os-release': 'NAME=x\nPRETTY_NAME="Debian GNU/Linux 12"\n' })),
    'Debian GNU/Linux 12',
  );
  assert.equal(await readOsImage(await machine({ 'usr/lib/os-release': 'PRETTY_NAME=Clear\n' })), 'Clear');
  assert.equal(await readOsImage(await machine({ 'etc/os-release': 'NAME=x\n' })), 'Linux');
  assert.equal(await readOsImage(await machine({})), 'Unknown');
});

test('a file system has a size', async () => {
  assert.ok((await readFileSystemBytes(tmpdir())) > 1_000_000n);
});

test('default routes lead to global addresses of their interfaces, IPv4 first', async () => {
  const zeros = '0'.repeat(32);
  const paths = await machine({
    'proc/net/route': [
      'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT',
      'docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0',
      'eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0',
    ].join('\n'),
    'proc/net/ipv6_route': [
      `${zeros} 00 ${zeros} 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth1`,
      `${zeros} 00 ${zeros} 00 ${zeros} ffffffff 00000001 00000000 00200200       lo`,
    ].join('\n'),
  });
  const interfaces = { lo: ['127.0.0.1'], docker0: ['172.17.0.1'], eth0: ['169.254.1.1', '192.0.2.2'], eth1: ['fe80::1', 'fd00::7'] };
  assert.deepEqual(await readDefaultRouteAddresses(paths, interfaces), ['192.0.2.2', 'fd00::7']);
  assert.deepEqual(await readDefaultRouteAddresses(await machine({}), interfaces), []);
});
