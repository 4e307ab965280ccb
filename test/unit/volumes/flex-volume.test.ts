import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Pod } from '../../../src/model/pod.ts';
import { capability } from '../../../src/volumes/capability.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { nodeUnderTest } from '../../builders/node-parts.ts';
import { VolumeStage } from '../../fakes/volume-stage.ts';

const stage = VolumeStage.forTests();
const { uid, rootDir, objects } = stage;
const { signal } = new AbortController();
const log = join(rootDir, 'flex/calls');

/** A driver whose verbs are lines of a shell; each call is noted. */
async function drive(verbs: Readonly<Record<string, string>>, name = 'example~disk'): Promise<void> {
  const directory = join(rootDir, 'flex', name);
  const cases = Object.entries(verbs).map(([verb, line]) => `${verb}) ${line};;`);
  await mkdir(directory, { recursive: true });
  const script = `#!/bin/sh\necho "$@" >> ${log}\ncase $1 in\n${cases.join('\n')}\n*) echo '{"status":"Not supported"}'; exit 1;;\nesac\n`;
  await writeFile(join(directory, name.slice(name.indexOf('~') + 1)), script, { mode: 0o755 });
}
const calls = async (): Promise<readonly string[]> => (await readFile(log, 'utf8')).trim().split('\n');

const OK = `echo '{"status":"Success"}'`;
const INIT = `echo '{"status":"Success","capabilities":{"attach":false,"fsGroup":false}}'`;
const flex = (over: object = {}): NonNullable<Pod['spec']['volumes']>[number] => ({
  name: 'd',
  flexVolume: { driver: 'example/disk', options: { share: 'a' }, ...over },
});
const podWith = (volume: NonNullable<Pod['spec']['volumes']>[number]): Pod =>
  aPod('web', { volumes: [volume], containers: [aContainer('app', { volumeMounts: [{ name: 'd', mountPath: '/d' }] })] });
const directory = join(rootDir, 'pods', uid, 'volumes/example~disk/d');

describe('flexVolume', () => {
  it('is mounted by its driver with what the pod says, and unmounted by it before it is removed', async () => {
    await drive({ init: INIT, mount: `touch "$2"/data; ${OK}`, unmount: `rm "$2"/data; ${OK}` });
    objects.set('Secret default/login', { data: { password: 'c2VjcmV0' } });
    const pod = podWith(flex({ fsType: 'ext4', secretRef: { name: 'login' }, readOnly: true }));
    await stage.volumes.prepare(pod, signal);
    await stage.volumes.prepare(pod, signal);
    const options = {
      'kubernetes.io/fsType': 'ext4',
      'kubernetes.io/readwrite': 'ro',
      'kubernetes.io/pvOrVolumeName': 'd',
      'kubernetes.io/pod.name': 'web',
      'kubernetes.io/pod.namespace': 'default',
      'kubernetes.io/pod.uid': uid,
      'kubernetes.io/serviceAccount.name': '',
      'kubernetes.io/secret/password': 'c2VjcmV0',
      share: 'a',
    };
    assert.deepEqual(await calls(), ['init', `mount ${directory} ${JSON.stringify(options)}`]);
    await stage.volumes.tearDown(uid, signal);
    assert.deepEqual((await calls()).slice(2), [`unmount ${directory}`]);
    assert.deepEqual(await readdir(join(rootDir, 'pods', uid)), []);
  });

  it('holds the pod until its driver has unmounted it', async () => {
    await drive({ init: INIT, mount: OK, unmount: `echo '{"status":"Failure","message":"busy"}'; exit 1` });
    await stage.volumes.prepare(podWith(flex()), signal);
    await assert.rejects(stage.volumes.remove(uid, signal), {
      message: /^FlexVolume driver example~disk has not unmounted volume d: unmount command failed, status: Failure, reason: busy$/,
    });
    await drive({ unmount: OK });
    await stage.volumes.remove(uid, signal);
    assert.equal(await stage.volumes.remain(uid), false);
  });

  it('is unmounted as all others are where its driver does not, or is gone', async () => {
    await drive({ init: INIT, mount: OK });
    await stage.volumes.prepare(podWith(flex()), signal);
    await stage.volumes.remove(uid, signal);
    assert.equal(await stage.volumes.remain(uid), false);
  });

  it('is not mounted again by the next agent, whatever became of the driver', async () => {
    await mkdir(directory, { recursive: true });
    stage.mounted.set(directory, 'by the driver');
    await stage.volumes.prepare(podWith(flex()), signal);
    await stage.volumes.remove(uid, signal);
    assert.equal(stage.mounted.size, 0);
  });

  for (const [what, verbs, message] of [
    [
      'has no driver',
      undefined,
      `CanMount failed for volume "d" : no volume plugin matched: there is no FlexVolume driver example/disk in ${rootDir}/flex`,
    ],
    [
      'has one that fails',
      { init: INIT, mount: `echo '{"status":"Failure","message":"no\\\\nserver"}'; exit 1` },
      'SetUp failed for volume "d" : mount command failed, status: Failure, reason: no server',
    ],
    [
      'has one that answers nonsense',
      { init: INIT, mount: 'echo done' },
      `SetUp failed for volume "d" : mount command failed: ${rootDir}/flex/example~disk/disk answered with what is no status: done`,
    ],
    [
      'has one that dies',
      { init: INIT, mount: 'echo broken >&2; exit 3' },
      `SetUp failed for volume "d" : mount command failed: ${rootDir}/flex/example~disk/disk: exit status 3: broken`,
    ],
    [
      'has one that attaches',
      { init: OK },
      'WaitForAttach failed for volume "d" : FlexVolume driver example/disk attaches volumes to nodes, which this node does not wait for: only drivers whose init says {"attach": false} are run',
    ],
  ] as const) {
    it(`holds the pod where it ${what}`, async () => {
      if (verbs) await drive(verbs);
      await assert.rejects(stage.volumes.prepare(podWith(flex()), signal), { message: `MountVolume.${message}` });
    });
  }

  it('has its driver where volumePluginDir says', async () => {
    await drive({ init: INIT, mount: OK });
    const { node } = nodeUnderTest({ options: { rootDir, volumePluginDir: join(rootDir, 'flex') } });
    await capability(node).pod?.prepare?.(podWith(flex()), signal);
    assert.equal((await calls()).length, 2);
  });

  it('runs no program that is not a driver', async () => {
    await drive({ init: INIT, mount: OK });
    for (const driver of ['../example~disk/disk', 'example/../disk', 'example~disk', '/bin/sh', '.'])
      await assert.rejects(stage.volumes.prepare(podWith(flex({ driver })), signal), /no volume plugin matched/, driver);
    assert.deepEqual(await readdir(join(rootDir, 'flex')), ['example~disk'], 'nothing was run');
  });

  it("shows no pod what is mounted elsewhere on the node, whatever its driver's name", async () => {
    const elsewhere = join(rootDir, 'd');
    stage.mounted.set(elsewhere, 'of the node');
    await mkdir(join(rootDir, 'pods', uid, 'volumes'), { recursive: true });
    for (const driver of ['x/../../../../..', 'x/y/../../../../../..', 'kubernetes.io/csi', 'a/b/c', ''])
      await assert.rejects(stage.volumes.prepare(podWith(flex({ driver })), signal), /no volume plugin matched/, driver);
  });
});
