import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resultAddresses } from '../../../../src/engines/cni/result-addresses.ts';

describe('the addresses in a result', () => {
  for (const [of, result, expected] of [
    ['version 0.2.0', { ip4: { ip: '10.0.0.2/24' }, ip6: { ip: 'fd00::2/64' } }, ['10.0.0.2', 'fd00::2']],
    ['version 0.4.0', { ips: [{ version: '4', address: '10.0.0.2/24' }] }, ['10.0.0.2']],
    [
      'both families',
      { ips: [{ address: 'fd00::2/64' }, { address: '10.0.0.2/24' }, { address: '10.0.0.3/24' }] },
      ['10.0.0.2', 'fd00::2'],
    ],
    [
      'interfaces of the node and of the pod',
      {
        interfaces: [{ name: 'br0' }, { name: 'eth0', sandbox: '/proc/1/ns/net' }],
        ips: [
          { address: '10.0.0.1/24', interface: 0 },
          { address: '10.0.0.2/24', interface: 1 },
        ],
      },
      ['10.0.0.2'],
    ],
    ['nothing', {}, []],
  ] as const) {
    test(of, () => assert.deepEqual(resultAddresses(result), expected));
  }
});
