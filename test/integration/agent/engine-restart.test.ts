import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { AgentUnderTest } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';
import { engineService, freezeEngine } from './private-engine.ts';

describe('an engine that restarts under the agent', { timeout: 400_000 }, () => {
  after(() => engineService('start'));

  test('gets every pod back, none twice', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) await agent.declare(name, pod([app(), app(stays, { name: 'side' })]));
    const before = await Promise.all(names.map((name) => agent.up(name, ['app', 'side'])));
    await engineService('stop');
    await engineService('start');
    await agent.engine.listen();
    for (const [i, name] of names.entries()) {
      await agent.up(name, ['app', 'side']);
      assert.equal((await agent.up(name, ['app', 'side'])).app?.uid, before[i]?.app?.uid);
    }
    assertOnce(await agent.engine.containers());
    // And it hears of what happens, without waiting for its next look.
    await agent.declare('fresh', pod());
    const { app: victim } = await agent.up('fresh');
    assert.ok(victim);
    await agent.engine.kill(victim.id);
    const { app: again } = await agent.until('the killed container is back', async () => {
      const now = await agent.up('fresh');
      return now.app?.id !== victim.id && now;
    });
    assert.equal(again?.attempt, 1);
    const [died, started] = [eventOf(agent, 'die', victim.id), eventOf(agent, 'start', again.id)];
    assert.ok(started - died < 5_000, `back after ${started - died} ms`);
  });

  test('gets what was declared and loses what was deleted while it was away; the agent says once that it is away and once that it is back', async (t) => {
    const agent = await AgentUnderTest.start(t, '--v=0');
    await agent.declare('keeps', pod());
    await agent.declare('goes', pod());
    await agent.declare('changes', pod([app(stays, { env: [{ name: 'V', value: '1' }] })]));
    for (const name of ['keeps', 'goes', 'changes']) await agent.up(name);
    const from = agent.lines.length;
    await engineService('stop');
    await agent.declare('comes', pod());
    await agent.remove('goes');
    await agent.declare('changes', pod([app(stays, { env: [{ name: 'V', value: '2' }] })]));
    await engineService('start');
    await agent.engine.listen();
    for (const name of ['comes', 'keeps']) await agent.up(name);
    await agent.until('the deleted pod is gone', async () => (await agent.containers('goes')).length === 0);
    await agent.until('the edited pod has changed', async () => {
      const { app: now } = await agent.up('changes');
      return now && (await agent.engine.inspect(now.id)).Config.Env.includes('V=2');
    });
    assertOnce(await agent.engine.containers());
    await agent.logged('that events are heard again', ({ msg }) => /^(engine|container) events resumed$/.test(msg), from);
    const said = agent.lines.slice(from).map(({ msg }) => msg);
    const about = (msg: RegExp): number => said.filter((each) => msg.test(each)).length;
    assert.deepEqual([about(/^(engine|container) events broke off; retrying$/), about(/^(engine|container) events resumed$/)], [1, 1]);
  });

  test('or that stops answering is given up call by call at the deadline; once it answers again all is as declared, and nothing ran twice', async (t) => {
    const agent = await AgentUnderTest.start(t, '--v=0', '--runtime-request-timeout=10s');
    await agent.declare('keeps', pod());
    await agent.declare('goes', pod());
    const before = await agent.up('keeps');
    await agent.up('goes');
    const from = agent.lines.length;
    const thaw = await freezeEngine();
    t.after(thaw);
    await agent.declare('comes', pod());
    await agent.remove('goes');
    const { err } = await agent.logged('that it is given up', ({ msg }) => msg === 'relist failed', from);
    assert.match(String(err), /GET \/containers\/json did not answer within 10 s|no answer within 10 s/);
    await thaw();
    await agent.up('comes');
    await agent.until('the deleted pod is gone', async () => (await agent.containers('goes')).length === 0);
    assert.deepEqual(await agent.up('keeps'), before);
    assertOnce(await agent.engine.containers());
    await agent.logged('that it answers again', ({ msg }) => msg === 'relist works again', from);
    assert.equal(agent.lines.slice(from).filter(({ msg }) => msg === 'relist failed').length, 1);
    assert.equal(agent.engine.events.filter(({ action, pod: of }) => action === 'create' && of === agent.pod('comes')).length, 2);
  });

  test('is waited for when it is away at the start of the agent', async (t) => {
    const agent = await AgentUnderTest.prepare(t, '--v=0');
    await agent.declare('patient', pod());
    await engineService('stop');
    agent.run();
    await agent.logged(
      'that the engine does not answer',
      (line) => /ENOENT|ECONNREFUSED|engine/.test(JSON.stringify(line)) && line['level'] !== 'info',
    );
    await engineService('start');
    await agent.engine.listen();
    await agent.up('patient');
  });
});

function assertOnce(
  containers: readonly { readonly pod: string; readonly container: string; readonly state: string; readonly name: string }[],
): void {
  const running = containers.filter(({ state }) => state === 'running').map(({ pod: of, container }) => `${of}/${container}`);
  assert.equal(new Set(running).size, running.length, running.join(', '));
}

function eventOf(agent: AgentUnderTest, what: string, container: string): number {
  const event = agent.engine.events.find(({ action, id }) => action === what && id === container);
  assert.ok(event, `no event ${what}`);
  return event.atMs;
}
