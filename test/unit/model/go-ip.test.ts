import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { goIp } from '../../../src/model/go-ip.ts';

describe('an address is written as Go has it', () => {
  for (const [text, expected] of [
    ['10.96.0.10', '10.96.0.10'],
    ['FD00:0:0::0A', 'fd00::a'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::ffff:7f00:1', '127.0.0.1'],
    ['fe80::1%eth0', undefined],
    ['cluster.local', undefined],
    ['', undefined],
  ] as const) {
    test(JSON.stringify(text), () => assert.equal(goIp(text), expected));
  }
});
