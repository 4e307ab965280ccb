import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inFileOrder } from '../../../src/options/in-file-order.ts';

test('flags come first, then each file line by line, then what has no place', () => {
  const files = ['/etc/b', '/etc/a:1:2 x', '/etc/a'];
  assert.deepEqual(
    inFileOrder(
      [
        'no: place',
        'flag --z',
        '/etc/a:2:1 x',
        '/etc/a:1:2 x:10:1 x',
        '/etc/b:10:1 x',
        '/etc/b:9:20 y',
        '/etc/b:9:3 x',
        '/etc/c:1:1 x',
        '/etc/b: empty',
      ],
      files,
    ),
    [
      'flag --z',
      '/etc/b: empty',
      '/etc/b:9:3 x',
      '/etc/b:9:20 y',
      '/etc/b:10:1 x',
      '/etc/a:1:2 x:10:1 x',
      '/etc/a:2:1 x',
      'no: place',
      '/etc/c:1:1 x',
    ],
  );
});

test('sentences of one place keep their order', () => {
  assert.deepEqual(inFileOrder(['f:1:1 b', 'f:1:1 a'], ['f']), ['f:1:1 b', 'f:1:1 a']);
});
