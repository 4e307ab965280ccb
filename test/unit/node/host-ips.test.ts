import assert from 'node:assert/strict';
import type { NetworkInterfaceInfo } from 'node:os';
import { test } from 'node:test';
import { hostIps } from '../../../src/node/host-ips.ts';
import { parseNodeIps } from '../../../src/node/ip-address.ts';

const known = { netmask: '', mac: '', cidr: null, internal: false };
const v4 = (address: string, internal = false): NetworkInterfaceInfo => ({ ...known, family: 'IPv4', address, internal });
const v6 = (address: string): NetworkInterfaceInfo => ({ ...known, family: 'IPv6', address, scopeid: 0 });
const interfaces = { lo: [v4('127.0.0.1', true)], eth0: [v6('fe80::1'), v6('2001:db8::7')], eth1: [v4('192.0.2.7')] };

test('a node has the addresses that --node-ip names, as Go writes them, or its own of the family that it names', () => {
  const table = [
    ['', ['192.0.2.7']],
    ['0.0.0.0', ['192.0.2.7']],
    ['::', ['2001:db8::7']],
    ['192.0.2.9, 2001:DB8:0::9', ['192.0.2.9', '2001:db8::9']],
    ['::ffff:192.0.2.9', ['192.0.2.9']],
  ] as const;
  for (const [flag, expected] of table) assert.deepEqual(hostIps(parseNodeIps(flag), interfaces), expected, flag);
  assert.deepEqual(hostIps([], {}), []);
});
