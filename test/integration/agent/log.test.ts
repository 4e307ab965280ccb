import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AgentUnderTest, type LogLine } from './agent-under-test.ts';
import { app, pod } from './pod-specs.ts';

describe("the agent's log", { timeout: 300_000 }, () => {
  test("at the default verbosity tells a pod's life in single lines, and nothing while nothing happens", async (t) => {
    // Resyncs and rescans many times as often as usual.
    const agent = await AgentUnderTest.start(t, '--v=0', '--sync-frequency=2s', '--file-check-frequency=2s');
    await agent.declare('job', pod([app('sleep 25')], { restartPolicy: 'Never' }));
    await agent.phase('job', 'Running');
    const from = agent.lines.length;
    await agent.phase('job', 'Succeeded');
    // The next word after Running is of the end, 25 s later.
    assert.equal(agent.lines[from]?.msg, 'sandbox stopped');
    await agent.remove('job');
    await agent.until('the pod is gone', async () => (await agent.containers('job')).length === 0);
    assert.equal(await agent.kill(), 0);
    // The server comes up beside the pods.
    const ofServer = (line: LogLine): boolean => line['listener'] !== undefined;
    assert.deepEqual(
      agent.lines
        .filter(ofServer)
        .map(({ msg, listener }) => `${String(listener)} ${msg}`)
        .toSorted(),
      ['https HTTPS port closed to all clients: no way of authentication is configured', 'https serving', 'local serving'],
    );
    const story = agent.lines
      .filter((line) => !ofServer(line))
      .map((line) => [line.msg, line['name'], line['to']].filter(Boolean).join(' '));
    assert.deepEqual(
      story.filter((line) => line !== 'pod phase changed Pending'),
      [
        'engine chosen',
        'starting',
        ...(agent.engine.facts.rotatesLogs
          ? ['container logs are rotated by the engine; a container that was made before keeps its settings']
          : []),
        'sandbox started',
        'container started app',
        'pod phase changed Running',
        'sandbox stopped',
        'pod phase changed Succeeded',
        'signal, stopping; again to exit at once',
        'stopped; the pods stay as they are',
      ],
    );
    for (const { level } of agent.lines) assert.equal(level, 'info');
    assert.deepEqual(agent.output, []);
  });

  test('at --v=4 tells of each reconcile what woke it, why it did what, and when it looks again', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('web', pod());
    const { app: web } = await agent.up('web');
    assert.ok(web);
    const of = `default/${agent.pod('web')}`;
    const first = await agent.logged('the start', ({ msg, pod: name }) => msg === 'reconciled' && name === of);
    assert.equal(first['woken'], 'pod added');
    assert.equal(first['because'], 'there is no sandbox yet: a first one; container app has not run yet');
    assert.match(
      String(first['did']),
      /^admit: ok \(\d+ ms\); prepare: ok \(\d+ ms\); runSandbox attempt 0: ok \(\d+ ms\); startContainer app: ok \(\d+ ms\)$/,
    );
    assert.match(String(first['next']), /^in [\d.]+ s$/);
    await agent.engine.kill(web.id);
    const again = await agent.logged(
      'the restart',
      ({ msg, did }) => msg === 'reconciled' && /startContainer/.test(String(did)),
      agent.lines.indexOf(first) + 1,
    );
    assert.match(String(again['woken']), /engine event/);
    assert.match(String(again['because']), /container app exited with code 137/);
    await agent.remove('web');
    await agent.gone('web');
    const last = await agent.logged('the end', ({ msg, pod: name, life }) => msg === 'reconciled' && name === of && life === 'terminating');
    assert.match(String(last['woken']), /pod removed/);
    assert.match(String(last['because']), /no longer declared/);
    assert.match(String(last['did']), /stopContainer app: ok .*; stopSandbox .*; removeContainer app: ok .*; removeSandbox/);
  });
});
