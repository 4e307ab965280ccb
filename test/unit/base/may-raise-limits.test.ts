import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { mayRaiseLimits } from '../../../src/base/open-file-limit.ts';

test('limits are raised by who has CAP_SYS_RESOURCE', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'rxlet-caps-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 'status');
  for (const [effective, may] of [
    ['000001ffffffffff', true],
    ['0000000001000000', true],
    ['00000000a80425fb', false],
    ['0000000000000000', false],
  ] as const) {
    writeFileSync(path, `Name:\tnode\nCapPrm:\t000001ffffffffff\nCapEff:\t${effective}\n`);
    assert.equal(mayRaiseLimits(path), may, effective);
  }
  writeFileSync(path, 'Name:\tnode\n');
  assert.equal(mayRaiseLimits(path), false);
  assert.equal(typeof mayRaiseLimits(), 'boolean');
});
