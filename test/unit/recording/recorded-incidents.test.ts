import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openReplay } from '../../../src/open-replay.ts';

const folder = join(import.meta.dirname, '../../replays');

for (const name of readdirSync(folder).filter((each) => each.endsWith('.ndjson'))) {
  test(`${name}: all is decided as it was`, async () => {
    const replay = await openReplay(join(folder, name));
    const { decisions, difference } = await replay.play(() => true, undefined);
    assert.equal(difference, undefined);
    assert.ok(decisions > 0);
  });
}
