import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

test('docs/options.md says what the options table says', () => {
  const root = join(import.meta.dirname, '../../..');
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'hack/generate-options-doc.ts'), '--check'], { encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.equal(status, 0);
});
