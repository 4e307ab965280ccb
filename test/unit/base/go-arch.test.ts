import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goArch } from '../../../src/base/go-arch.ts';

test("Go's names of processors; those that Node calls the same stay", () => {
  assert.deepEqual(['x64', 'arm64', 'ppc64'].map(goArch), ['amd64', 'arm64', 'ppc64le']);
});
