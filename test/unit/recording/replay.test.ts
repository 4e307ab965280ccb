import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Pod } from '../../../src/model/pod.ts';
import { replayAgent } from '../../../src/replay-agent.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { recordingOf, recordingRun } from '../../builders/recordings.ts';
import { agentOnFakeEngine } from '../../fakes/agent-on-fake-engine.ts';
import { chaos } from '../../fakes/chaos.ts';

/** Lines of an agent on which a pod runs, and crashes after 3 s. */
async function recorded(
  pod: Pod = aPod('web', {}, { annotations: { 'fake.rxlet.dev/app': 'exit=1 after=3s' } }),
): Promise<readonly string[]> {
  const { run, lines } = recordingRun();
  const agent = agentOnFakeEngine({ run });
  await agent.clock.until(agent.clock.sleep(500));
  agent.declare([pod]);
  await agent.clock.until(agent.clock.sleep(30_000));
  await agent.clock.until(agent.stop());
  agent.engine.controls.close();
  return lines;
}

const decisionsIn = (lines: readonly string[]): number => lines.filter((line) => line.startsWith('{"decided"')).length;

test('what an agent decided about a pod is decided again from its recording', async () => {
  const lines = await recorded();

  const replayed = await replayAgent(await recordingOf(lines));

  assert.equal(replayed.difference, undefined);
  assert.ok(decisionsIn(lines) > 5);
  assert.equal(replayed.decisions, decisionsIn(lines));
});

test('ten minutes of trouble are decided about again in less than 5 s, byte for byte', async () => {
  const { run, lines } = recordingRun();
  const agent = agentOnFakeEngine({ run });
  await agent.clock.until(agent.clock.sleep(500));
  await chaos(agent, 600, 7);
  await agent.clock.until(agent.stop());
  agent.engine.controls.close();
  const decided = lines.flatMap((line) => (line.startsWith('{"decided"') ? [(JSON.parse(line) as { decided: string }).decided] : []));
  const recording = await recordingOf(lines);

  const texts: string[] = [];
  const startedMs = process.cpuUsage().user / 1000;
  const replayed = await replayAgent(recording, { onDecision: (_record, text) => void texts.push(text) });
  const tookMs = process.cpuUsage().user / 1000 - startedMs;

  assert.equal(replayed.difference, undefined);
  assert.ok(decided.length > 400, `only ${decided.length} decisions`);
  assert.deepEqual(texts, decided);
  assert.ok(tookMs < 5_000, `took ${tookMs} ms`);
});

test('an input that was changed is found, with the pod that is decided about otherwise', async () => {
  const lines = await recorded();
  const changed = lines.map((line) =>
    line.includes('"exitCode":1') && line.includes('"in":"answer"')
      ? line.replaceAll('"exitCode":1', '"exitCode":2')
      : line.replaceAll('"restartPolicy":"Always"', '"restartPolicy":"Never"'),
  );

  const { difference } = await replayAgent(await recordingOf(changed));

  assert.match(difference?.what ?? '', /default\/web/);
});

test('a rule that is another one now is found, with the decision of then and of now', async () => {
  const [header = '', ...rest] = await recorded();
  const changed = header.replace(/"maxContainerRestartPeriodMs":\d+/, '"maxContainerRestartPeriodMs":1000');
  assert.notEqual(changed, header);

  const { difference } = await replayAgent(await recordingOf([changed, ...rest]));

  assert.equal(difference?.what, 'the agent decides otherwise');
  assert.match(difference.recorded ?? '', /back-off 10s restarting failed container/);
  assert.match(difference.replayed ?? '', /back-off 1s restarting failed container/);
});

test('a call that an agent makes and did not make is the first difference, with the decision that led to it', async () => {
  const lines = await recorded(aPod('web'));
  // As if the rule had been not to start this container.
  const changed = lines.filter(
    (line) => !line.includes('"name":"engine.runtime.startContainer"') && !line.includes('"name":"engine.runtime.createContainer"'),
  );

  const { difference } = await replayAgent(await recordingOf(changed));

  assert.match(difference?.what ?? '', /the agent asks engine\.runtime\.(create|start)Container\(default\/web/);
});

test('a decision that was another one is named with both texts', async () => {
  const lines = await recorded();
  const at = lines.findIndex((line) => line.startsWith('{"decided"') && line.includes('startContainer'));
  const changed = lines.with(at, lines[at]!.replaceAll('startContainer', 'stopContainer'));

  const { difference } = await replayAgent(await recordingOf(changed));

  assert.equal(difference?.what, 'the agent decides otherwise');
  assert.match(difference.recorded ?? '', /stopContainer/);
  assert.match(difference.replayed ?? '', /startContainer/);
});

test('a replay ends where it is asked to, and shows what was known', async () => {
  const lines = await recorded();
  let seen = 0;

  const { decisions, known, difference } = await replayAgent(await recordingOf(lines), { onDecision: () => ++seen < 3 });

  assert.deepEqual([decisions, difference], [3, undefined]);
  const uid = aPod('web').metadata.uid;
  assert.equal(known?.pods.get(uid)?.pod.metadata.name, 'web');
  assert.equal(known.statuses.get(uid)?.phase, 'Running');
});

test('a recording that was cut off is replayed up to there', async () => {
  const lines = await recorded();
  const cut = [...lines.slice(0, -20), lines.at(-20)!.slice(0, 7)];
  const recording = await recordingOf(cut);

  assert.match(recording.damage ?? '', /line \d+ is damaged/);
  assert.equal((await replayAgent(recording)).difference, undefined);
});

test('a recording of another version, and what is none, are refused with the reason', async () => {
  const [header = '', ...rest] = await recorded();

  await assert.rejects(
    recordingOf([header.replace('"version":1', '"version":7'), ...rest]),
    /a recording of version 7, made by rxlet .*; this rxlet replays version 1/,
  );
  await assert.rejects(recordingOf(['kind: Pod']), /it is no recording of rxlet/);
  await assert.rejects(recordingOf([]), /it is empty/);
});

test('what a Secret holds is in no line of a recording, and hashes of it cannot be guessed', async () => {
  const { run, lines } = recordingRun();
  const agent = agentOnFakeEngine({
    run,
    capabilities: [
      {
        name: 'secrets',
        wanted: () => true,
        load: async () => ({
          capability: ({ objects }) => {
            const metadata = { name: 'pw', namespace: 'default', uid: 'u', resourceVersion: '1' };
            objects.declare([{ kind: 'Secret', metadata, data: { password: Buffer.from('correct-horse').toString('base64') } } as never]);
            return {};
          },
        }),
      },
    ],
  });
  const secretKeyRef = { name: 'pw', key: 'password' };
  const env = [
    { name: 'PW', valueFrom: { secretKeyRef } },
    { name: 'URL', value: 'db://user:$(PW)@db' },
  ];
  await agent.clock.until(agent.clock.sleep(500));
  const annotations = { 'kubernetes.io/config.source': 'file' };
  agent.declare([aPod('web', { containers: [aContainer('app', { env })] }, { annotations })]);
  await agent.clock.until(agent.clock.sleep(20_000));
  await agent.clock.until(agent.stop());
  agent.engine.controls.close();

  assert.equal(agent.statuses.get(aPod('web').metadata.uid)?.phase, 'Running');
  const hash = /hidden-[0-9a-f]{16}/;
  const answer = lines.find((line) => line.includes('"in":"answer"') && line.includes('"password":'))!;
  const shown = Buffer.from((JSON.parse(answer) as { v: { data: { password: string } } }).v.data.password, 'base64').toString();
  assert.match(shown, hash);
  const guess = createHash('sha256').update('correct-horse').digest('hex');
  assert.ok(!guess.includes(shown.replace('hidden-', '')), 'the hash has a key');
  for (const line of lines)
    assert.ok(!line.includes('correct-horse') && !line.includes(Buffer.from('correct-horse').toString('base64')), line);
  assert.equal((await replayAgent(await recordingOf(lines))).difference, undefined);
});

test('credentials of a manifest server are in no line', async () => {
  const { run, lines } = recordingRun();
  const manifestUrlHeader = { Authorization: ['Bearer abcdef123'] };
  const agent = agentOnFakeEngine({
    run,
    options: { manifestUrl: 'https://user:passw0rd@host/pods?token=t0ken-t0ken', manifestUrlHeader },
  });
  await agent.clock.until(agent.clock.sleep(500));
  await agent.clock.until(agent.stop());

  assert.match(lines[0]!, /https:\/\/hidden-[0-9a-f]{16}@host\/pods\?hidden-/);
  for (const line of lines) assert.doesNotMatch(line, /abcdef123|passw0rd|t0ken-t0ken/);
});
