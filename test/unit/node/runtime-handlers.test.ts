import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runtimeHandlerStatuses } from '../../../src/node/runtime-handlers.ts';

test('each handler says what it can do', () => {
  assert.deepEqual(runtimeHandlerStatuses([{ name: '', recursiveReadOnly: true, userNamespaces: false }]), [
    { name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: false } },
  ]);
});
