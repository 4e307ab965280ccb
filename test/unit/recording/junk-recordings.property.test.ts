import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { runReplay } from '../../../src/cli/replay.ts';
import { openReplay } from '../../../src/open-replay.ts';

const lines = readFileSync(join(import.meta.dirname, '../../replays/a-minute-of-trouble.ndjson'), 'utf8')
  .trimEnd()
  .split('\n')
  .slice(0, 400);
const header = JSON.parse(lines[0] ?? '') as Record<string, unknown>;

const directory = mkdtempSync(join(tmpdir(), 'rxlet-junk-'));
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));

/** Its exit code, and all that it says. */
async function replay(text: string, ...flags: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
  const path = join(directory, 'recording');
  writeFileSync(path, text);
  let said = '';
  const out = { write: (each: string) => (said += each) };
  const code = await runReplay([path, ...flags], { stdout: out, stderr: out }, openReplay);
  return { code, said };
}

const hostile = '\u001b]0;x\u0007\u001b[2J\u009b31m';
/** What is in a recording, in places where it should not be. */
const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(
    hostile,
    { $: 'undefined' },
    { $: 'map' },
    { $: 'set', of: 7 },
    { $: 'error', of: 1 },
    { $: hostile },
    { $: 'bigint', of: 'x' },
    { $: 'quantity', of: 'x' },
    -1,
    1e300,
    '__proto__',
  ),
);

function changed(line: string, field: number, value: unknown): string {
  const json = JSON.parse(line) as Record<string, unknown>;
  const keys = Object.keys(json);
  return JSON.stringify({ ...json, [keys[field % keys.length] ?? 'x']: value });
}

type Change = {
  readonly at: number;
  readonly field: number;
  readonly value: unknown;
  readonly how: 'field' | 'line' | 'remove' | 'repeat';
};
const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat({ max: lines.length - 1 }),
  field: fc.nat({ max: 10 }),
  value: junk,
  how: fc.constantFrom('field', 'line', 'remove', 'repeat'),
});

test('a recording in which anything is something else is replayed up to there, or refused: always with a reason, never with an escape', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
      const text = [...lines];
      for (const { at, field, value, how } of changes) {
        const line = text[at] ?? lines[0] ?? '';
        if (how === 'field') text[at] = line.startsWith('{') ? changed(line, field, value) : line;
        else if (how === 'line') text[at] = JSON.stringify(value);
        else text.splice(at, 1, ...(how === 'repeat' ? [line, line] : []));
      }
      const { code, said } = await replay(text.join('\n'));
      assert.ok([0, 1, 2].includes(code), `exit code ${code}`);
      assert.doesNotMatch(said.replaceAll('\n', ''), /\p{Cc}/u);
      if (code === 2) assert.match(said, /error: /);
    }),
    { numRuns: 300 },
  );
});

test('a header with nothing else in it is no recording', async () => {
  const { recording, version } = header;
  const { code, said } = await replay(`${JSON.stringify({ recording, version })}\n`);
  assert.equal(code, 2);
  assert.match(said, /cannot be replayed: its first line is damaged/);
});
