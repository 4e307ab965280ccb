import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  mountPoints,
  parseBootTime,
  parseInterfaces,
  parseMachineCpu,
  parseProcessStat,
  parseThreads,
} from '../../../src/stats/proc-texts.ts';

const line = (name: string): string => `${name}: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n`;
const header = 'Inter-|   Receive\n face |bytes    packets errs\n';
const route = 'Iface\tDestination\nens4\t00000000\t0100000A\n';

describe('network interfaces', () => {
  test('tell bytes, packets, errors and drops both ways', () => {
    assert.deepEqual(parseInterfaces(header + line('  eth0')), [
      { name: 'eth0', rxBytes: 1, rxPackets: 2, rxErrors: 3, rxDropped: 4, txBytes: 5, txPackets: 6, txErrors: 7, txDropped: 8 },
    ]);
  });
  for (const [why, names, routes, expected] of [
    [
      "the host's ends of containers' interfaces, bridges of the engine and loopback are left out",
      ['lo', 'docker0', 'veth1', 'eth0'],
      '',
      ['eth0'],
    ],
    ['eth0 is the first, whatever the routes say', ['ens4', 'eth0'], route, ['eth0', 'ens4']],
    ['without eth0 the default route leads', ['wlan0', 'ens4'], route, ['ens4', 'wlan0']],
    ['without either they stay as they are', ['b', 'a'], '', ['b', 'a']],
  ] as const)
    test(why, () =>
      assert.deepEqual(
        parseInterfaces(header + names.map(line).join(''), routes).map(({ name }) => name),
        expected,
      ),
    );
});

test('processor time of the machine is what was not idle', () =>
  assert.equal(parseMachineCpu('cpu  100 10 50 9000 7 0 3 1 5 0\n'), 1.64e9));
test('the machine started at btime', () => assert.equal(parseBootTime('cpu 1\nbtime 1234\n'), 1_234_000));
test('all threads are counted', () => assert.equal(parseThreads('0.42 0.49 1.00 3/545 509\n'), 545));

test('a process may be called anything', () => {
  const stat = '9 (a) R (b) c) S 1 9 9 0 -1 0 11 0 2 0 30 20 0 0 20 0 1 0 500 0 0';
  assert.deepEqual(parseProcessStat(stat), {
    name: 'a) R (b) c',
    cpuNanoSeconds: 500_000_000,
    pageFaults: 13,
    majorPageFaults: 2,
    startedAfterMs: 5000,
  });
});
test('what is no process tells nothing', () => assert.equal(parseProcessStat(''), undefined));

describe('mounts', () => {
  const info = [
    '1 0 8:1 / / rw - ext4 /dev/root rw',
    '2 1 8:2 / /var/lib rw,relatime shared:1 - xfs /dev/sdb rw',
    '3 2 0:9 / /var/lib/a\\040b rw - tmpfs tmpfs rw',
    '4 2 8:3 / /var/lib rw - xfs /dev/sdc rw',
    'nonsense',
  ].join('\n');
  test('have points with blanks', () => assert.deepEqual([...mountPoints(info)], ['/', '/var/lib', '/var/lib/a b']));
});
