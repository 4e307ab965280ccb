import assert from 'node:assert/strict';
import { copyFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { AgentUnderTest, type LogLine } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';

const says = (msg: string) => (line: LogLine) => line.msg === msg;

/** What has to stay as it is for a pod that nobody touches. */
const identityOf = async (agent: AgentUnderTest, name: string): Promise<unknown> => {
  const { POD, app: main } = await agent.up(name);
  assert.ok(POD && main);
  const [{ State: sandbox }, { State: container }] = await Promise.all([agent.engine.inspect(POD.id), agent.engine.inspect(main.id)]);
  return [POD.id, sandbox.StartedAt, main.id, container.StartedAt];
};

describe('an edit of the manifest directory', { timeout: 300_000 }, () => {
  test('changes the pod: the old one ends before the new one begins', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('job', pod([app(stays, { env: [{ name: 'V', value: '1' }] })]));
    const before = await agent.up('job');
    await agent.declare('job', pod([app(stays, { env: [{ name: 'V', value: '2' }] })]));
    const now = await agent.until('the new pod is up', async () => {
      const found = await agent.up('job');
      return found.app?.uid !== before.app?.uid && found;
    });
    assert.ok(now.app);
    assert.ok((await agent.engine.inspect(now.app.id)).Config.Env.includes('V=2'));
    assertNoOverlap(agent);
    await agent.until('nothing of the old pod is left', async () =>
      (await agent.containers('job')).every(({ uid }) => uid === now.app?.uid),
    );
    await agent.until('its directories are gone', async () =>
      (await agent.traces()).every((path) => !path.includes(before.app?.uid ?? '')),
    );
  });

  test('that deletes a file ends its pod and leaves nothing, and no other pod notices', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('stays', pod());
    await agent.declare(
      'goes',
      pod([app(stays, { volumeMounts: [{ name: 'v', mountPath: '/v' }] })], { volumes: [{ name: 'v', emptyDir: {} }] }),
    );
    const kept = await identityOf(agent, 'stays');
    const { app: gone } = await agent.up('goes');
    await agent.remove('goes');
    await agent.gone('goes');
    assert.deepEqual(await agent.traces('goes', gone?.uid), []);
    assert.deepEqual(await identityOf(agent, 'stays'), kept);
  });

  test('to nonsense and back does not touch the pod, and the fault is said once, with its place', async (t) => {
    const agent = await AgentUnderTest.start(t, '--file-check-frequency=1s');
    await agent.declare('web', pod());
    const kept = await identityOf(agent, 'web');
    const good = agent.manifest('web', pod());
    await agent.write('web.yaml', good.replace('image:', 'imagge:'));
    const refused = await agent.logged('manifest refused', says('manifest refused'));
    const line = good.split('\n').findIndex((text) => text.includes('image:'));
    await agent.write('web.yaml', 'a: [b');
    const broken = await agent.logged('the second fault', (l) => l.msg === 'manifest refused' && l !== refused);
    // Three more looks at the same nonsense.
    const looks = agent.lines.length;
    await agent.declare('clock', pod([app('sleep 3')], { restartPolicy: 'Never' }));
    await agent.phase('clock', 'Succeeded', looks);
    await agent.write('web.yaml', good);
    await agent.logged('manifest is good again', says('manifest is good again'));
    assert.deepEqual(await identityOf(agent, 'web'), kept);

    const faults = agent.lines.filter(says('manifest refused')).map(({ fault }) => String(fault));
    assert.equal(faults.length, 2, faults.join('\n'));
    assert.ok(faults[0]?.startsWith(`${agent.manifests}/web.yaml:`), faults[0]);
    assert.match(faults[0] ?? '', /spec\.containers\[0\]\.image/);
    assert.match(faults[1] ?? '', /web\.yaml:1:/);
    assert.equal(refused['keeps'], `default/${agent.pod('web')}`);
    assert.equal(broken['keeps'], `default/${agent.pod('web')}`);
    assert.ok(line > 0);
    const odd = agent.lines.filter(says('manifest warning')).map(({ warning }) => String(warning));
    assert.ok(
      odd.some((text) => text.includes(`web.yaml:${line + 1}:`) && text.includes('imagge') && /did you mean .*image/.test(text)),
      odd.join('\n'),
    );
  });

  test('that adds an unknown field warns of it, with the nearest key, and the pod runs', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.write('odd.yaml', agent.manifest('odd', pod()).replace('spec:\n', 'spec:\n  restartPolice: Never\n'));
    await agent.up('odd');
    const { warning } = await agent.logged('the warning', says('manifest warning'));
    assert.match(String(warning), /odd\.yaml:6:3 spec\.restartPolice: .*restartPolicy/);
  });

  test('that names a pod twice lets the first file by name win and says so; the other takes over when the winner goes', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('twin', pod([app(stays, { env: [{ name: 'FROM', value: 'a' }] })]), { file: 'a' });
    const { app: first } = await agent.up('twin');
    await agent.declare('twin', pod([app(stays, { env: [{ name: 'FROM', value: 'b' }] })]), { file: 'b' });
    const said = await agent.logged('the collision', says('two manifests name one pod: the first file runs, the other is ignored'));
    assert.deepEqual([said['runs'], said['ignored']], [join(agent.manifests, 'a.yaml'), join(agent.manifests, 'b.yaml')]);
    assert.equal((await agent.up('twin')).app?.id, first?.id);
    await agent.remove('a');
    const { app: second } = await agent.until('the other runs', async () => {
      const now = await agent.up('twin');
      return now.app?.id !== first?.id && now;
    });
    assert.ok(second);
    assert.ok((await agent.engine.inspect(second.id)).Config.Env.includes('FROM=b'));
    assertNoOverlap(agent);
  });

  test('ignores what editors leave behind and says so, and is silent about dot files', async (t) => {
    const agent = await AgentUnderTest.prepare(t);
    await agent.declare('only', pod());
    const manifest = join(agent.manifests, 'only.yaml');
    const leftovers = ['only.yaml~', 'only.yaml.bak', '#only.yaml#', 'only.yaml.orig', 'only.yaml.dpkg-old'];
    for (const name of [...leftovers, '.only.yaml.swp', '.hidden.yaml']) await copyFile(manifest, join(agent.manifests, name));
    agent.run();
    await agent.up('only');
    const ignored = agent.lines.filter(says('not read as a manifest')).map(({ file }) => String(file));
    assert.deepEqual(new Set(ignored), new Set(leftovers.map((name) => join(agent.manifests, name))));
    assert.equal(ignored.length, leftovers.length);
    assert.equal(
      agent.lines.some((line) => JSON.stringify(line).includes('/.')),
      false,
    );
    assert.equal(agent.lines.some(says('two manifests name one pod: the first file runs, the other is ignored')), false);
  });

  test('that moves the directory away and back removes nothing, and changes count again afterwards', async (t) => {
    const agent = await AgentUnderTest.start(t, '--file-check-frequency=1s');
    await agent.declare('web', pod());
    const kept = await identityOf(agent, 'web');
    await rename(agent.manifests, `${agent.manifests}-away`);
    await agent.logged('it cannot be read', says('manifests cannot be read: their pods stay as they are'));
    await rename(`${agent.manifests}-away`, agent.manifests);
    await agent.logged('it can be read again', says('manifests can be read again'));
    await agent.declare('more', pod());
    await agent.up('more');
    assert.deepEqual(await identityOf(agent, 'web'), kept);
  });

  test('that comes twice within 50 ms: only the last spec runs in the end, and no two ever ran at once', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const version = (v: number): string => agent.manifest('fast', pod([app(stays, { env: [{ name: 'V', value: String(v) }] })]));
    await agent.write('fast.yaml', version(0));
    await agent.up('fast');
    for (let v = 1; v <= 9; v += 2) {
      await agent.write('fast.yaml', version(v));
      await agent.write('fast.yaml', version(v + 1));
      await agent.until(`version ${v + 1} runs`, async () => {
        const { app: now } = await agent.up('fast');
        return now && (await agent.engine.inspect(now.id)).Config.Env.includes(`V=${v + 1}`);
      });
    }
    assertNoOverlap(agent);
    await agent.until('nothing else is left', async () => (await agent.containers('fast')).length === 2);
  });

  test('that is not atomic but comes piece by piece, or by way of a deletion, does not touch the pod', async (t) => {
    const agent = await AgentUnderTest.start(t);
    // No beginning of a JSON text is one itself.
    const path = join(agent.manifests, 'web.json');
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: `${agent.prefix}web` }, spec: pod() });
    await writeFile(path, text);
    const kept = await identityOf(agent, 'web');
    for (let length = 0; length < text.length; length += 7) await writeFile(path, text.slice(0, length));
    await writeFile(path, text);
    await rm(path);
    await writeFile(path, `${text}\n`);
    await agent.declare('after', pod());
    await agent.up('after');
    assert.deepEqual(await identityOf(agent, 'web'), kept);
    const ended = agent.engine.events.filter(({ action, pod: of }) => action === 'die' && of === agent.pod('web'));
    assert.deepEqual(ended, []);
  });
});

/** By the engine's own order of events: at no time did app containers of two uids run under one pod name. */
function assertNoOverlap(agent: AgentUnderTest): void {
  const running = new Map<string, string>();
  for (const { action, id, uid, pod: name, container } of agent.engine.events) {
    if (action === 'die') running.delete(id);
    if (action !== 'start') continue;
    for (const other of running.values()) assert.equal(other, uid, `${container} of ${name} started while another version ran`);
    running.set(id, uid);
  }
  assert.ok(running.size > 0);
}
