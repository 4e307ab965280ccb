import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { V1PodSpec, V1Volume } from '@kubernetes/client-node';
import { systemClock } from '../../src/base/clock.ts';
import { systemMounts } from '../../src/volumes/mounts.ts';
import { testImage } from '../builders/docker-under-test.ts';
import { untilFileHolds } from '../builders/file-that-holds.ts';
import { AgentUnderTest } from './agent/agent-under-test.ts';
import { app, pod, stays } from './agent/pod-specs.ts';

const mounts = systemMounts({ clock: systemClock });

const mountAll = (volumes: readonly V1Volume[]) => volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
const podWith = (volumes: V1Volume[], script = stays, over: Partial<V1PodSpec> = {}): V1PodSpec =>
  pod([app(script, { volumeMounts: mountAll(volumes) })], { volumes, ...over });
const aConfigMap = (name: string, data: Readonly<Record<string, string>>): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
const aSecret = (name: string, stringData: Readonly<Record<string, string>>): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData });

async function uidOf(agent: AgentUnderTest, name: string): Promise<string> {
  const { app: main } = await agent.up(name);
  assert.ok(main);
  return main.uid;
}
const volumeOf = (agent: AgentUnderTest, uid: string, plugin: string, name: string): string =>
  join(agent.rootDir, 'pods', uid, 'volumes', `kubernetes.io~${plugin}`, name);

describe('volumes of static pods', { timeout: 600_000 }, () => {
  test('a ConfigMap of the manifest directory: an edit is seen in the volume, nonsense changes nothing, and no container starts anew', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const script = 'while :; do cat /c/level >/out/next 2>/dev/null && mv /out/next /out/seen; sleep 0.1; done';
    const volumes: V1Volume[] = [
      { name: 'c', configMap: { name: 'settings' } },
      { name: 's', secret: { secretName: 'login' } },
      { name: 'out', emptyDir: {} },
    ];
    const env = [
      { name: 'LEVEL', valueFrom: { configMapKeyRef: { name: 'settings', key: 'level' } } },
      { name: 'USER', valueFrom: { secretKeyRef: { name: 'login', key: 'user' } } },
    ];
    await agent.declare('web', pod([app(script, { env, volumeMounts: mountAll(volumes) })], { volumes }));
    await agent.logged('FailedMount', ({ message }) =>
      /MountVolume.SetUp failed for volume "c" : configmap "settings" not found: a static pod can refer only/.test(String(message)),
    );
    await agent.write('settings.yaml', aConfigMap('settings', { level: 'one' }));
    await agent.write('login.yaml', aSecret('login', { user: 'me' }));
    const { app: main } = await agent.up('web');
    assert.ok(main);
    const inspected = await agent.engine.inspect(main.id);
    assert.deepEqual(inspected.Config.Env.filter((each) => /^(LEVEL|USER)=/.test(each)).sort(), ['LEVEL=one', 'USER=me']);
    const out = volumeOf(agent, main.uid, 'empty-dir', 'out');
    await untilFileHolds(out, 'seen', 'one');
    await agent.write('settings.yaml', aConfigMap('settings', { level: 'two' }));
    await untilFileHolds(out, 'seen', 'two');
    await agent.write('settings.yaml', aConfigMap('settings', { level: 'three' }).replace('"three"', '3'));
    const refused = await agent.logged('refused', ({ msg }) => msg === 'manifest refused');
    assert.match(String(refused['fault']), /settings\.yaml:1:\d+ data\[level\]: expected a string, found number 3/);
    assert.equal(refused['keeps'], 'ConfigMap default/settings');
    await agent.write('login.yaml', aSecret('login', { user: 'you' }));
    await untilFileHolds(volumeOf(agent, main.uid, 'secret', 's'), 'user', 'you');
    assert.equal(await readFile(join(volumeOf(agent, main.uid, 'configmap', 'c'), 'level'), 'utf8'), 'two');
    assert.equal((await agent.up('web')).app?.id, main.id);
  });

  test('a container has the name that its pod overrides, and a variable from the file that an earlier one left', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const volumes: V1Volume[] = [{ name: 'left', emptyDir: {} }];
    const volumeMounts = mountAll(volumes);
    const init = app('echo "USER=\'me\'" >/left/login.env', { name: 'init', volumeMounts });
    const env = [{ name: 'WHO', valueFrom: { fileKeyRef: { volumeName: 'left', path: 'login.env', key: 'USER' } } }];
    const main = app('echo "$WHO $(hostname) $(hostname -f)" >/left/next && mv /left/next /left/seen; ' + stays, { env, volumeMounts });
    await agent.declare('web', pod([main], { volumes, initContainers: [init], hostname: 'www', hostnameOverride: 'db.example.org' }));
    const left = volumeOf(agent, await uidOf(agent, 'web'), 'empty-dir', 'left');
    await untilFileHolds(left, 'seen', 'me db.example.org db.example.org');
  });

  test('an image is shown whole and in part, only to be read, and gone with its pod', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const volumes: V1Volume[] = [
      { name: 'image', image: { reference: testImage, pullPolicy: 'IfNotPresent' } },
      { name: 'out', emptyDir: {} },
    ];
    const volumeMounts = [...mountAll(volumes), { name: 'image', mountPath: '/part', subPath: 'etc/passwd' }];
    const main = app('{ ls /image/bin/sh; head -n 1 /part; touch /image/x /part; } >/out/next 2>&1; mv /out/next /out/seen; ' + stays, {
      volumeMounts,
    });
    await agent.declare('web', pod([main], { volumes }));
    const uid = await uidOf(agent, 'web');
    const refusals = ['/image/x', '/part'].map((path) => `touch: ${path}: Read-only file system`);
    await untilFileHolds(
      volumeOf(agent, uid, 'empty-dir', 'out'),
      'seen',
      ['/image/bin/sh', 'root:x:0:0:root:/root:/bin/sh', ...refusals].join('\n'),
    );
    await agent.remove('web');
    await agent.until('the pod has no directory', () => !existsSync(join(agent.rootDir, 'pods', uid)));
  });

  test('a hundred states of a ConfigMap are each seen whole', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const script = `while :; do
      if cd -P /c/..data 2>/dev/null && a=$(cat a 2>/dev/null) && b=$(cat b 2>/dev/null); then
        [ "$a" = "$b" ] || echo "$a $b" >>/out/torn
        [ "$a" = "$last" ] || { echo "$a" >/out/next; mv /out/next /out/seen; last=$a; }
      fi
      cd /; sleep 0.01
    done`;
    const state = (i: number): string => aConfigMap('pair', { a: `${i}`.padEnd(4_000, 'x'), b: `${i}`.padEnd(4_000, 'x') });
    await agent.write('pair.yaml', state(0));
    await agent.declare(
      'reader',
      podWith(
        [
          { name: 'c', configMap: { name: 'pair' } },
          { name: 'out', emptyDir: {} },
        ],
        script,
      ),
    );
    const out = volumeOf(agent, await uidOf(agent, 'reader'), 'empty-dir', 'out');
    for (let i = 1; i <= 100; i++) {
      await agent.write('pair.yaml', state(i));
      await untilFileHolds(out, 'seen', `${i}`.padEnd(4_000, 'x'));
    }
    assert.ok(!(await readdir(out)).includes('torn'));
  });

  test('a volume in memory is unmounted at the end, and with it what an agent that was killed has left', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const volumes: V1Volume[] = [{ name: 'm', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }];
    await agent.declare(
      'ends',
      podWith(volumes, 'grep " /m tmpfs .*size=1024k" /proc/mounts >/m/found; sleep 1', { restartPolicy: 'Never' }),
    );
    await agent.declare('stays', podWith(volumes));
    const uid = await uidOf(agent, 'stays');
    await agent.phase('ends', 'Succeeded');
    await agent.until('the volume of the pod that has ended is unmounted', async () =>
      (await mounts.below(agent.rootDir)).every((path) => path.includes(uid)),
    );
    await agent.kill('SIGKILL');
    await agent.remove('stays');
    for (const { id } of await agent.containers('stays')) await agent.engine.remove(id);
    await mkdir(volumeOf(agent, 'of-nobody', 'empty-dir', 'x'), { recursive: true });
    assert.equal((await mounts.below(agent.rootDir)).length, 1);
    const from = agent.lines.length;
    agent.run();
    for (const orphan of [uid, 'of-nobody'])
      await agent.logged('an orphan', (line) => line.msg === 'orphaned pod directory removed' && line['uid'] === orphan, from);
    assert.deepEqual(await mounts.below(agent.rootDir), []);
  });

  test('sixty pods with every kind of volume leave nothing', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.write('settings.yaml', aConfigMap('settings', { level: 'one' }));
    await agent.write('login.yaml', aSecret('login', { user: 'me' }));
    const host = join(agent.dir, 'host');
    const volumes: V1Volume[] = [
      { name: 'disk', emptyDir: {} },
      { name: 'memory', emptyDir: { medium: 'Memory' } },
      { name: 'c', configMap: { name: 'settings' } },
      { name: 's', secret: { secretName: 'login', defaultMode: 0o400 } },
      { name: 'd', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
      { name: 'p', projected: { sources: [{ configMap: { name: 'settings' } }, { secret: { name: 'login' } }] } },
      { name: 'h', hostPath: { path: host, type: 'DirectoryOrCreate' } },
    ];
    const volumeMounts = [
      ...mountAll(volumes),
      { name: 'disk', mountPath: '/part', subPath: 'a/b' },
      { name: 'c', mountPath: '/etc/level', subPath: 'level' },
      { name: 'memory', mountPath: '/c/nested', mountPropagation: 'HostToContainer' },
    ];
    const script = `test -s /etc/level && test -s /p/user && test -s /d/name && echo x >/part/x && echo x >/c/nested/x && echo x >"/h/$HOSTNAME"; ${stays}`;
    const spec = pod([app(script, { volumeMounts })], { volumes, securityContext: { fsGroup: 4321 }, terminationGracePeriodSeconds: 1 });
    const names = Array.from({ length: 60 }, (_, i) => `p${i}`);
    for (let i = 0; i < names.length; i += 15) {
      const batch = names.slice(i, i + 15);
      for (const name of batch) await agent.declare(name, spec);
      for (const name of batch) await agent.up(name);
      for (const name of batch) await agent.remove(name);
      for (const name of batch) await agent.gone(name);
    }
    assert.deepEqual(await mounts.below(agent.rootDir), []);
    assert.deepEqual(await readdir(join(agent.rootDir, 'pods')), []);
    assert.equal((await readdir(host)).length, 60);
  });
});
