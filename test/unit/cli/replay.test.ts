import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runReplay } from '../../../src/cli/replay.ts';
import { openReplay } from '../../../src/open-replay.ts';
import { replayAgent } from '../../../src/replay-agent.ts';
import { recordingOf } from '../../builders/recordings.ts';

const recording = join(import.meta.dirname, '../../replays/a-minute-of-trouble.ndjson');

async function replay(...argv: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const said = { out: '', err: '' };
  const io = { stdout: { write: (text: string) => (said.out += text) }, stderr: { write: (text: string) => (said.err += text) } };
  return { code: await runReplay(argv, io, openReplay), ...said };
}

test('rxlet replay prints each decision, and that all were as recorded', async () => {
  const { code, out, err } = await replay(recording);

  assert.deepEqual([code, err], [0, '']);
  assert.match(out, /default\/pod-1 {2}woken: pod added \| because: .* \| did: admit; prepare; runSandbox/);
  assert.match(out, /\n\d+ decisions, all as recorded\n$/);
});

test('--pod prints the decisions about one pod, --until ends early', async () => {
  const { out } = await replay(recording, '--pod=default/pod-7', '--until=20s');
  const lines = out.trimEnd().split('\n').slice(0, -1);

  assert.ok(lines.length > 0);
  for (const line of lines) {
    assert.match(line, / {2}default\/pod-7 {2}/);
    assert.ok(Number.parseFloat(line) <= 20, line);
  }
});

test('--break ends at a decision about a pod, and shows what was known then', async () => {
  const { code, out } = await replay(recording, '--break', 'default/pod-7:2', '--pod=default/pod-7');
  const [, known = ''] = out.split('known at decision 2 about default/pod-7:\n');
  const { decision, pod, status } = JSON.parse(known) as { decision: { pod: string }; pod: { spec: object }; status: { phase: string } };

  assert.equal(code, 0);
  assert.equal(decision.pod, 'default/pod-7');
  assert.ok(pod.spec);
  assert.equal(typeof status.phase, 'string');
  const late = await replay(recording, '--break=default/pod-7:100000');
  assert.deepEqual([late.code, /and no decision 100000/.test(late.err)], [2, true]);
});

test('the first difference is printed, and the exit code is 1', async () => {
  const lines = readFileSync(recording, 'utf8').trimEnd().split('\n');
  const at = lines.findLastIndex((line) => line.startsWith('{"decided"'));
  const changed = lines.with(at, lines[at]!.replace('because', 'whereas'));
  const said = { out: '' };
  const io = { stdout: { write: (text: string) => (said.out += text) }, stderr: { write: () => {} } };
  const code = await runReplay([recording], io, async () => ({
    startedAtMs: 0,
    agent: '0.1.0',
    damage: undefined,
    play: async () => ({ ...(await replayAgent(await recordingOf(changed))), known: () => undefined }),
  }));

  assert.equal(code, 1);
  assert.match(
    said.out,
    /differs [\d.]+ s after the start: the agent decides otherwise\n {2}recorded by 0\.1\.0: .*whereas.*\n {2}replayed: .*because/,
  );
});

test('what cannot be replayed is refused with the reason, and a wrong command line with the usage', async () => {
  const none = await replay(import.meta.filename);
  assert.deepEqual([none.code, none.err], [2, `error: ${import.meta.filename} cannot be replayed: it is no recording of rxlet\n`]);
  assert.match((await replay('/no/such/file')).err, /cannot be replayed: ENOENT/);
  for (const argv of [[], [recording, 'more'], [recording, '--until=soon'], [recording, '--break=web'], [recording, '--output=xml']]) {
    const { code, err } = await replay(...argv);
    assert.deepEqual([code, err.includes('Usage: rxlet replay FILE')], [2, true], argv.join(' '));
  }
});
