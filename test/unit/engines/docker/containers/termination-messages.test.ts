import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messagePath } from '../../../../../src/engines/common/containers/termination-messages.ts';

test('a container finds its message file where the engine mounts it: under the root, without dots and slashes too many', () => {
  for (const [path, expected] of [
    ['/dev/termination-log', '/dev/termination-log'],
    ['message', '/message'],
    ['/var/../tmp//message/', '/tmp/message'],
  ] as const) {
    assert.equal(messagePath(path), expected, path);
  }
});
