import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { filter, firstValueFrom } from 'rxjs';
import { recordAgent } from '../../src/record-agent.ts';
import { capabilities, type runAgent } from '../../src/run-agent.ts';
import { aPodThat } from '../builders/pods-that.ts';
import { agentOnFakeEngine } from '../fakes/agent-on-fake-engine.ts';
import { RecordingLogger } from '../fakes/recording-logger.ts';

const run: typeof runAgent = (options, from, stop, list) => recordAgent(options, from, stop, list ?? capabilities);

test('recordMaxMib: a recording ends there, and the agent goes on', { timeout: 30_000 }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'rxlet-record-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const recorded = async (recordMaxMib: number) => {
    const log = new RecordingLogger();
    const recordFile = join(directory, String(recordMaxMib));
    const agent = agentOnFakeEngine({ run, log, options: { recordFile, recordMaxMib } });
    const { controls } = agent.engine;
    const running = (): number =>
      controls.world().filter(({ role, state }) => role.kind === 'container' && state.phase === 'running').length;
    agent.declare(Array.from({ length: 20 }, (_, n) => aPodThat(`p${n}`)));
    await agent.clock.until(firstValueFrom(controls.changes.pipe(filter(() => running() === 20))));
    await agent.close();
    const ends = log.lines.flatMap(({ message }) => (message.startsWith('recording ended') ? [message] : []));
    return { bytes: statSync(recordFile).size, text: readFileSync(recordFile, 'utf8'), ends };
  };
  const whole = await recorded(64);
  assert.deepEqual([whole.ends, whole.text.endsWith('{"end":true}\n')], [[], true]);
  const mostMib = 1 / 32;
  assert.ok(whole.bytes > mostMib * 2 ** 20, `${whole.bytes} bytes are within the bound`);
  const cut = await recorded(mostMib);
  assert.deepEqual(cut.ends, ['recording ended: it has reached its bound (--record-max-mib)']);
  assert.ok(cut.bytes <= mostMib * 2 ** 20 && cut.bytes > 0, `${cut.bytes} bytes`);
});
