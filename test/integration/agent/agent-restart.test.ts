import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { AgentUnderTest } from './agent-under-test.ts';
import { inside } from './exec-in.ts';
import { app, pod, stays } from './pod-specs.ts';

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `p${i}`);

/** Every container with what changes when it is touched. */
const everything = async (agent: AgentUnderTest): Promise<readonly string[]> => {
  const containers = await agent.engine.containers();
  const inspected = await Promise.all(containers.map(({ id }) => agent.engine.inspect(id)));
  return inspected.map(({ Id, Name, State }) => `${Id} ${Name} ${State.Status} ${State.StartedAt}`).sort();
};

/** A second on a quiet machine. */
const SOON_MS = 6_000;

describe('an agent that ends and starts again', { timeout: 400_000 }, () => {
  test('by SIGTERM: exits with 0 soon, and the pods stay', async (t) => {
    const agent = await AgentUnderTest.start(t);
    for (const name of numbered(3)) await agent.declare(name, pod());
    for (const name of numbered(3)) await agent.up(name);
    const before = await everything(agent);
    const sinceMs = Date.now();
    assert.equal(await agent.kill('SIGTERM'), 0);
    assert.ok(Date.now() - sinceMs < SOON_MS, `${Date.now() - sinceMs} ms`);
    assert.deepEqual(await everything(agent), before);
    assert.equal(agent.lines.at(-1)?.msg, 'stopped; the pods stay as they are');
  });

  test('by SIGTERM in the middle of a start: exits with 0 soon, and the next one finishes the start', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('slow', pod([app()], { initContainers: [app('sleep 2', { name: 'setup' })] }));
    for (const name of numbered(5)) await agent.declare(name, pod());
    await agent.until('the first container starts', () => agent.engine.events.some(({ action }) => action === 'start'));
    const sinceMs = Date.now();
    assert.equal(await agent.kill('SIGTERM'), 0);
    assert.ok(Date.now() - sinceMs < SOON_MS, `${Date.now() - sinceMs} ms`);
    agent.run();
    for (const name of ['slow', ...numbered(5)]) await agent.up(name);
    await eachOnce(agent, ['slow', ...numbered(5)]);
  });

  test('by kill -9 with 20 pods running: touches no container, and edits count again', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const names = numbered(20);
    for (const name of names) await agent.declare(name, pod());
    for (const name of names) await agent.up(name);
    await agent.kill('SIGKILL');
    const before = await everything(agent);
    assert.equal(before.length, 40);
    const from = agent.engine.events.length;
    const line = agent.lines.length;
    agent.run();
    for (const name of names) await agent.phase(name, 'Running', line);
    await agent.declare('new', pod());
    await agent.remove('p7');
    await agent.declare('p8', pod([app(stays, { env: [{ name: 'EDITED', value: 'yes' }] })]));
    await agent.up('new');
    await agent.until('the deleted pod is gone', async () => (await agent.containers('p7')).length === 0);
    await agent.until('the edited pod runs', async () => {
      const { app: edited } = await agent.up('p8');
      return edited && (await agent.engine.inspect(edited.id)).Config.Env.includes('EDITED=yes');
    });
    const touched = new Set(
      agent.engine.events
        .slice(from)
        .filter(({ action }) => ['create', 'start', 'kill', 'die', 'stop', 'destroy', 'restart'].includes(action))
        .map(({ pod: of }) => of),
    );
    assert.deepEqual(touched, new Set(['new', 'p7', 'p8'].map((name) => agent.pod(name))));
    const now = new Set(await everything(agent));
    const others = before.filter((text) => !/-p[78]-n1/.test(text));
    assert.equal(others.length, 36);
    assert.deepEqual(
      others.filter((text) => !now.has(text)),
      [],
    );
  });

  test('by kill -9 five times while it starts 10 pods: each runs exactly once in the end', async (t) => {
    const agent = await AgentUnderTest.prepare(t);
    const names = numbered(10);
    for (const name of names)
      await agent.declare(name, pod([app(), app(stays, { name: 'side' })], { initContainers: [app('exit 0', { name: 'setup' })] }));
    for (let times = 0; times < 5; times++) {
      const from = agent.engine.events.length;
      agent.run();
      // Further into the start each time, always in the middle of something.
      await agent.until(
        'it has begun',
        () => agent.engine.events.slice(from).filter(({ action }) => action === 'create' || action === 'start').length > 2 + 4 * times,
      );
      await agent.kill('SIGKILL');
    }
    agent.run();
    for (const name of names) await agent.up(name, ['app', 'side']);
    await eachOnce(agent, names);
  });

  test('by kill -9 while a container is stopped to be started again: it is, though it has ended well', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const script = "trap 'touch /told; sleep 2; exit 0' TERM; while :; do sleep 1000 & wait $!; done";
    const livenessProbe = { exec: { command: ['sh', '-c', 'exit 3'] }, periodSeconds: 1, failureThreshold: 1 };
    await agent.declare('sick', pod([app(script, { livenessProbe })], { restartPolicy: 'OnFailure', terminationGracePeriodSeconds: 30 }));
    const { app: told } = await agent.up('sick');
    assert.ok(told);
    await agent.logged('the stop', ({ msg, reason }) => msg === 'event' && reason === 'Killing');
    await agent.within('it was told', inside(told.id, 'until [ -e /told ]; do sleep 0.05; done'));
    await agent.kill('SIGKILL');
    const first = await agent.until('the container has ended', async () =>
      (await agent.containers('sick')).find(({ container, state }) => container === 'app' && state === 'exited'),
    );
    assert.equal((await agent.engine.inspect(first.id)).State.ExitCode, 0);
    agent.run();
    await agent.until('it runs again', async () =>
      (await agent.containers('sick')).some(({ container, attempt, state }) => container === 'app' && attempt === 1 && state === 'running'),
    );
  });

  test('by kill -9, and a manifest is edited meanwhile: the old pod ends before the new one begins, and the others stay', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const version = (v: number) => pod([app(stays, { env: [{ name: 'V', value: String(v) }] })]);
    await agent.declare('edited', version(1));
    await agent.declare('kept', pod());
    const [{ app: old, POD: oldSandbox }, kept] = [await agent.up('edited'), await agent.up('kept')];
    assert.ok(old && oldSandbox);
    await agent.kill('SIGKILL');
    await agent.declare('edited', version(2));
    agent.run();
    const now = await agent.until('the new version runs', async () => {
      const { app: found } = await agent.up('edited');
      return found?.id !== old.id && found;
    });
    assert.ok((await agent.engine.inspect(now.id)).Config.Env.includes('V=2'));
    const index = (action: string, id: string): number => agent.engine.events.findIndex((e) => e.action === action && e.id === id);
    assert.ok(index('die', old.id) >= 0 && index('die', old.id) < index('start', now.id));
    await agent.until('nothing of the old one is left', async () => (await agent.containers('edited')).length === 2);
    assert.deepEqual(await agent.up('kept'), kept);
  });

  test('by kill -9 while it ends pods: what was deleted goes, also what was deleted while it was away', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const names = numbered(6);
    for (const name of names)
      await agent.declare(name, pod([app("trap '' TERM; while :; do sleep 1; done")], { terminationGracePeriodSeconds: 2 }));
    for (const name of names) await agent.up(name);
    for (const name of names.slice(0, 3)) await agent.remove(name);
    await agent.logged('one is being stopped', ({ reason }) => reason === 'Killing');
    await agent.kill('SIGKILL');
    for (const name of names.slice(3, 5)) await agent.remove(name);
    agent.run();
    await agent.until('only the last one is left', async () =>
      (await agent.engine.containers()).every(({ pod: of }) => of === agent.pod('p5')),
    );
    await agent.up('p5');
    await agent.until('nor are their directories and log links', async () =>
      (await agent.traces()).every((path) => path.includes('-p5-') || path.includes('/pods/')),
    );
  });

  test('finds a manifest that was broken while it was away: the pod stays as it was declared last, and is kept running', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('web', pod());
    await agent.declare('other', pod());
    await Promise.all([agent.up('web'), agent.up('other')]);
    const lastGood = join(agent.rootDir, 'last-good-manifests');
    await agent.until('what is good is kept', async () => (await readdir(lastGood)).filter((name) => !name.includes('.')).length === 2);
    await agent.kill('SIGKILL');
    const before = await everything(agent);
    await agent.write('web.yaml', 'kind: [');
    const from = agent.lines.length;
    agent.run();
    const refused = await agent.logged('the fault', ({ msg }) => msg === 'manifest refused', from);
    assert.equal(refused['keeps'], `default/${agent.pod('web')}`);
    const { app: web } = await agent.up('web');
    assert.deepEqual(await everything(agent), before);
    assert.ok(web);
    await agent.engine.kill(web.id);
    await agent.until('it has been started again', async () => (await agent.up('web'))['app']?.attempt === 1);
    await agent.remove('web');
    await agent.gone('web');
    await agent.up('other');
  });

  test('finds a manifest half written when it starts: the pod, which runs, is not touched', async (t) => {
    const agent = await AgentUnderTest.start(t, '--v=0');
    const path = join(agent.manifests, 'web.json');
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: `${agent.prefix}web` }, spec: pod() });
    await writeFile(path, text);
    await agent.up('web');
    await agent.kill('SIGKILL');
    const before = await everything(agent);
    await writeFile(path, text.slice(0, 100));
    const from = agent.lines.length;
    agent.run();
    await agent.logged('that it starts', ({ msg }) => msg === 'starting', from);
    await writeFile(path, text);
    await agent.phase('web', 'Running', from);
    await agent.declare('more', pod());
    await agent.up('more');
    assert.deepEqual(
      (await everything(agent)).filter((each) => each.includes('-web-')),
      before,
    );
  });
});

/** Each pod has one sandbox that runs, each of its containers runs once, and none has a dead twin that still counts. */
async function eachOnce(agent: AgentUnderTest, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const running = (await agent.containers(name)).filter(({ state }) => state === 'running').map(({ container }) => container);
    assert.equal(new Set(running).size, running.length, `${name} runs ${running.join(', ')}`);
    assert.equal(new Set((await agent.containers(name)).map(({ uid }) => uid)).size, 1);
  }
}
