import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { AgentUnderTest } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';

type Write = (dir: string, text: string) => Promise<void>;

const FILE = 'web.yaml';
/** What is seen is seen by the watch, not by the next look. */
const onlyWatch = '--file-check-frequency=1h';

/** How programs write a file that is there already: as each does it by default, or as it may be told to. */
const writers: Readonly<Record<string, Write>> = {
  'vim, which moves the old file away': async (dir, text) => {
    const path = join(dir, FILE);
    // Whether it may create files there.
    await writeFile(join(dir, '4913'), '');
    await unlink(join(dir, '4913'));
    await writeFile(join(dir, '.web.yaml.swp'), 'b0VIM 9.0');
    await rename(path, `${path}~`);
    await writeFile(path, text);
    await unlink(`${path}~`);
    await unlink(join(dir, '.web.yaml.swp'));
  },
  'vim with backupcopy=yes, nano, or a shell, which write into the file': (dir, text) => writeFile(join(dir, FILE), text),
  'emacs, which keeps the old file, its own copy and a lock beside it': async (dir, text) => {
    const path = join(dir, FILE);
    await symlink('ann@host.1234:1', join(dir, `.#${FILE}`));
    await writeFile(join(dir, `#${FILE}#`), text.slice(0, -20));
    await rename(path, `${path}~`);
    await writeFile(path, text);
    await unlink(join(dir, `#${FILE}#`));
    await unlink(join(dir, `.#${FILE}`));
  },
  'sed -i, whose new file has another name first': async (dir, text) => {
    const draft = join(dir, 'sedQx7Zr1');
    await writeFile(draft, '');
    // In two pieces, as through a buffer.
    await writeFile(draft, text.slice(0, 60));
    await writeFile(draft, text);
    await rename(draft, join(dir, FILE));
  },
  'sed itself': async (dir, text) => {
    const v = /value: "(\d+)"/.exec(text)?.[1] ?? '';
    await promisify(execFile)('sed', ['-i', `s/value: "[0-9]*"/value: "${v}"/`, join(dir, FILE)]);
  },
  'rsync, whose new file is hidden first': async (dir, text) => {
    await writeFile(join(dir, `.${FILE}.Ab3dE6`), text);
    await rename(join(dir, `.${FILE}.Ab3dE6`), join(dir, FILE));
  },
  'a deletion and a new file': async (dir, text) => {
    await unlink(join(dir, FILE));
    await writeFile(join(dir, FILE), text);
  },
};

/** A pod that says which version of its manifest it is from. */
const version = (v: number): ReturnType<typeof pod> => pod([app(stays, { env: [{ name: 'V', value: String(v) }] })]);

const runsVersion = (agent: AgentUnderTest, name: string, v: number): Promise<string> =>
  agent.until(`version ${v} of ${name} runs`, async () => {
    const { app: now } = await agent.up(name);
    return now && (await agent.engine.inspect(now.id)).Config.Env.includes(`V=${v}`) && now.id;
  });

const appStarts = (agent: AgentUnderTest, name: string): number =>
  agent.engine.events.filter(({ action, container, pod: of }) => action === 'start' && container === 'app' && of === agent.pod(name))
    .length;

describe('a manifest', { timeout: 400_000 }, () => {
  for (const [who, write] of Object.entries(writers)) {
    test(`written by ${who}: what is the same touches nothing, what is not runs once`, async (t) => {
      const agent = await AgentUnderTest.start(t, onlyWatch);
      await agent.write(FILE, agent.manifest('web', version(1)));
      const first = await runsVersion(agent, 'web', 1);
      await write(agent.manifests, agent.manifest('web', version(1)));
      await agent.declare('between', pod());
      await agent.up('between');
      assert.equal(await runsVersion(agent, 'web', 1), first);
      await write(agent.manifests, agent.manifest('web', version(2)));
      await runsVersion(agent, 'web', 2);
      await agent.declare('after', pod());
      await agent.up('after');
      assert.equal(appStarts(agent, 'web'), 2);
      assert.deepEqual(
        agent.lines.filter(({ msg }) => msg === 'manifest refused' || msg.startsWith('two manifests')),
        [],
      );
    });
  }

  test('that is a link to a file elsewhere: an edit there, which no watch sees, is found at the next look', async (t) => {
    const agent = await AgentUnderTest.prepare(t, '--file-check-frequency=2s');
    const elsewhere = join(agent.dir, FILE);
    await writeFile(elsewhere, agent.manifest('web', version(1)));
    await symlink(elsewhere, join(agent.manifests, FILE));
    agent.run();
    await runsVersion(agent, 'web', 1);
    await writeFile(elsewhere, agent.manifest('web', version(2)));
    await runsVersion(agent, 'web', 2);
    await rm(elsewhere);
    await agent.gone('web');
  });

  test('that gets another name keeps its pod', async (t) => {
    const agent = await AgentUnderTest.start(t, onlyWatch);
    await agent.write(FILE, agent.manifest('web', version(1)));
    const kept = await runsVersion(agent, 'web', 1);
    await rename(join(agent.manifests, FILE), join(agent.manifests, 'a-new-name.json'));
    await agent.declare('after', pod());
    await agent.up('after');
    assert.equal(await runsVersion(agent, 'web', 1), kept);
    await rm(join(agent.manifests, 'a-new-name.json'));
    await agent.gone('web');
    assert.equal(appStarts(agent, 'web'), 1);
  });

  test('that was removed stays removed when a broken or empty file takes its name, for this agent and the next', async (t) => {
    const agent = await AgentUnderTest.start(t, onlyWatch);
    for (const [name, text] of [
      ['web', 'kind: ['],
      ['other', ''],
    ] as const) {
      await agent.write(`${name}.yaml`, agent.manifest(name, version(1)));
      await runsVersion(agent, name, 1);
      await rm(join(agent.manifests, `${name}.yaml`));
      await agent.gone(name);
      const refused = agent.logged(
        `that ${name} is refused`,
        ({ msg, fault }) => msg === 'manifest refused' && String(fault).includes(name),
      );
      await writeFile(join(agent.manifests, `${name}.yaml`), text);
      assert.equal((await refused)['keeps'], 'no pod');
    }
    await agent.kill('SIGKILL');
    agent.run();
    await agent.declare('after', pod());
    await agent.up('after');
    assert.deepEqual(await agent.containers('web'), []);
    assert.deepEqual(await agent.containers('other'), []);
  });

  test('mounted as Kubernetes mounts a ConfigMap: each swap of ..data counts once, and only where something is another', async (t) => {
    const agent = await AgentUnderTest.prepare(t, onlyWatch);
    const publish = async (generation: number, files: Readonly<Record<string, string>>): Promise<void> => {
      const directory = join(agent.manifests, `..2026_${generation}`);
      await mkdir(directory);
      for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
      await symlink(`..2026_${generation}`, join(agent.manifests, '..data_tmp'));
      await rename(join(agent.manifests, '..data_tmp'), join(agent.manifests, '..data'));
      for (const name of Object.keys(files)) await symlink(`..data/${name}`, join(agent.manifests, name)).catch(() => {});
      await rm(join(agent.manifests, `..2026_${generation - 1}`), { recursive: true, force: true });
    };
    const [one, two] = [1, 2].map((v) => agent.manifest('a', version(v)));
    const other = agent.manifest('b', version(1));
    assert.ok(one && two);
    await publish(1, { 'a.yaml': one, 'b.yaml': other });
    agent.run();
    const a = await runsVersion(agent, 'a', 1);
    const b = await runsVersion(agent, 'b', 1);
    await publish(2, { 'a.yaml': one, 'b.yaml': other });
    await publish(3, { 'a.yaml': two, 'b.yaml': other });
    assert.notEqual(await runsVersion(agent, 'a', 2), a);
    assert.equal(await runsVersion(agent, 'b', 1), b);
    assert.equal(appStarts(agent, 'a'), 2);
    // The kubelet removes the names of files that have gone after the swap.
    await publish(4, { 'b.yaml': other });
    await unlink(join(agent.manifests, 'a.yaml'));
    await agent.gone('a');
    assert.equal(await runsVersion(agent, 'b', 1), b);
    assert.deepEqual(
      agent.lines.filter(({ level }) => level === 'error'),
      [],
    );
  });

  for (const [how, make] of [
    [
      'made and filled',
      async (agent: AgentUnderTest, draft: string) => {
        await mkdir(join(agent.dir, 'later'));
        await rename(join(draft, FILE), join(agent.dir, 'later', FILE));
      },
    ],
    ['moved there with its files', (agent: AgentUnderTest, draft: string) => rename(draft, join(agent.dir, 'later'))],
    ['linked to', (agent: AgentUnderTest, draft: string) => symlink(draft, join(agent.dir, 'later'))],
    ['a file instead', (agent: AgentUnderTest, draft: string) => rename(join(draft, FILE), join(agent.dir, 'later'))],
  ] as const) {
    test(`of a path that comes to be while the agent runs, ${how}, runs and can be edited`, async (t) => {
      const agent = await AgentUnderTest.prepare(t, onlyWatch);
      const draft = join(agent.dir, 'draft');
      await mkdir(draft);
      await writeFile(join(draft, FILE), agent.manifest('web', version(1)));
      agent.run(`--pod-manifest-path=${join(agent.dir, 'later')}`, onlyWatch);
      await agent.logged('that it waits', ({ msg }) => msg === 'manifests cannot be read yet: waiting for them');
      await make(agent, draft);
      await runsVersion(agent, 'web', 1);
      const path = how === 'a file instead' ? join(agent.dir, 'later') : join(agent.dir, 'later', FILE);
      await writeFile(path, agent.manifest('web', version(2)));
      await runsVersion(agent, 'web', 2);
      await rm(path);
      await agent.gone('web');
    });
  }

  test('of a directory that another takes the place of, by its name or by a link: the pods are those of the new one', async (t) => {
    const agent = await AgentUnderTest.prepare(t, onlyWatch);
    const [current, link] = [join(agent.dir, 'current'), join(agent.dir, 'link')];
    const fill = async (name: string, ...pods: (readonly [string, number])[]): Promise<string> => {
      const directory = join(agent.dir, name);
      await mkdir(directory);
      for (const [pod, v] of pods) await writeFile(join(directory, `${pod}.yaml`), agent.manifest(pod, version(v)));
      return directory;
    };
    const pointTo = async (directory: string): Promise<void> => {
      await symlink(directory, `${link}.new`);
      await rename(`${link}.new`, link);
    };
    await fill('current', ['stays', 1], ['goes', 1]);
    await pointTo(current);
    agent.run(`--pod-manifest-path=${link}/`, onlyWatch);
    const kept = await runsVersion(agent, 'stays', 1);
    await agent.up('goes');
    await pointTo(await fill('next', ['stays', 1], ['comes', 1]));
    await runsVersion(agent, 'comes', 1);
    await agent.gone('goes');
    assert.equal(await runsVersion(agent, 'stays', 1), kept);
    await fill('last', ['stays', 1], ['comes', 2]);
    await rename(join(agent.dir, 'next'), join(agent.dir, 'old'));
    await rename(join(agent.dir, 'last'), join(agent.dir, 'next'));
    await runsVersion(agent, 'comes', 2);
    assert.equal(await runsVersion(agent, 'stays', 1), kept);
    // What happens where the path once led is nobody's business.
    await rm(join(agent.dir, 'old'), { recursive: true });
    await writeFile(join(current, 'ghost.yaml'), agent.manifest('ghost', version(1)));
    await writeFile(join(agent.dir, 'next', 'more.yaml'), agent.manifest('more', version(1)));
    await agent.up('more');
    assert.deepEqual(await agent.containers('ghost'), []);
  });

  test('among five hundred that come and go at once is found, and each fault is said once', async (t) => {
    const agent = await AgentUnderTest.prepare(t, '--v=0', '--file-check-frequency=1s');
    const [good, bad] = [numbered('good', 10), numbered('bad', 490)];
    const broken = (name: string): string => agent.manifest(name, pod([app(stays, { image: '' })]));
    const half = bad.length / 2;
    for (const name of bad.slice(0, half)) await agent.write(`${name}.yaml`, broken(name));
    agent.run();
    await Promise.all([
      ...good.map((name) => agent.declare(name, pod())),
      ...bad.slice(half).map((name) => agent.write(`${name}.yaml`, broken(name))),
    ]);
    for (const name of good) await agent.up(name);
    await agent.until('each fault is said', () => refusals(agent).length >= bad.length);
    await Promise.all(bad.map((name) => agent.remove(name)));
    await Promise.all(good.slice(1).map((name) => agent.remove(name)));
    await agent.until('one pod is left', async () => (await agent.engine.containers()).every(({ pod: of }) => of === agent.pod('good0')));
    await agent.up('good0');
    assert.deepEqual(refusals(agent).toSorted(), bad.map((name) => join(agent.manifests, `${name}.yaml`)).toSorted());
  });
});

const numbered = (name: string, count: number): readonly string[] => Array.from({ length: count }, (_, i) => `${name}${i}`);

/** Files that were refused, as often as that was said. */
const refusals = (agent: AgentUnderTest): readonly string[] =>
  agent.lines.filter(({ msg }) => msg === 'manifest refused').map(({ fault }) => String(fault).replace(/:\d+:.*$/s, ''));
