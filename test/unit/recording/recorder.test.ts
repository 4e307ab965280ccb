import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HiddenValues } from '../../../src/recording/hidden-values.ts';
import type { Line } from '../../../src/recording/lines.ts';
import { Recorder } from '../../../src/recording/recorder.ts';
import { fromJson } from '../../../src/recording/value-json.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

test('a value that has no form ends no agent: a replay ends there, and says so', async () => {
  const lines: Line[] = [];
  const recorder = new Recorder({ clock: new FakeClock(), seed: 1, hidden: new HiddenValues(), write: (line) => lines.push(line) });
  const endless: { self?: unknown } = {};
  endless.self = endless;
  const answer = await new Promise((resolve, reject) =>
    recorder.enter(
      () => ({ in: 'start' }),
      () => void recorder.ask('port.member', [], async () => endless).then(resolve, reject),
    ),
  );
  assert.equal(answer, endless);
  const written = lines.find((line) => 'in' in line && line.in === 'answer');
  assert.ok(written && 'v' in written);
  assert.throws(() => fromJson(written.v), /a value of the unknown kind "a value nests deeper than 100 levels"/);
});
