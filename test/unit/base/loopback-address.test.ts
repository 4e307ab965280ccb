import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLoopbackName, parseLoopbackAddress } from '../../../src/base/loopback-address.ts';

test('a loopback address has a host of this machine alone, and a port', () => {
  assert.deepEqual(parseLoopbackAddress('127.0.0.1:8080'), { address: '127.0.0.1', port: 8080 });
  assert.deepEqual(parseLoopbackAddress('127.1.2.3:0'), { address: '127.1.2.3', port: 0 });
  assert.deepEqual(parseLoopbackAddress('localhost:65535'), { address: '127.0.0.1', port: 65_535 });
  assert.deepEqual(parseLoopbackAddress('[::1]:80'), { address: '::1', port: 80 });
});

test('what reaches beyond this machine, or names no port, is none', () => {
  for (const text of [
    '0.0.0.0:80',
    '10.0.0.1:80',
    ':80',
    '::1:80',
    '[::]:80',
    '127.0.0.1',
    '127.0.0.1:65536',
    '127.0.0.1:-1',
    'example.org:80',
    '127.0.0.1.example.org:80',
    '127.1:80',
  ])
    assert.equal(parseLoopbackAddress(text), undefined, text);
});

test('a name that only a name server says is this machine is not', () => {
  assert.deepEqual(
    ['localhost', '127.0.0.1', '127.255.0.9', '[::1]', 'localhost.example.org', '127.0.0.1.nip.io', '::1', 'me', ''].map(isLoopbackName),
    [true, true, true, true, false, false, false, false, false],
  );
});
