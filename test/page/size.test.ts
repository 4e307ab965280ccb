import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

const MOST_BYTES = 150 * 1024;
const built = resolve(import.meta.dirname, '../../dist/page');

test('all that the page loads is at most 150 KiB compressed', () => {
  const names = readdirSync(built).toSorted();
  assert.deepEqual(names, ['icon.svg', 'page.css', 'page.html', 'page.js']);
  const bytes = names.reduce((sum, name) => sum + gzipSync(readFileSync(join(built, name)), { level: 9 }).length, 0);
  assert.ok(bytes <= MOST_BYTES, `${bytes} bytes`);
});
