import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { BehaviorSubject, filter, startWith } from 'rxjs';
import { systemClock } from '../../../src/base/clock.ts';
import { firstOf } from '../../../src/base/first-of.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { Node } from '../../../src/model/node.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { Attachments } from '../../../src/volumes/attachments.ts';
import { openDisks } from '../../../src/volumes/disks/open-disks.ts';
import { capability } from '../../../src/volumes/capability.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { nodeUnderTest } from '../../builders/node-parts.ts';
import { IscsiMachine } from '../../fakes/iscsi-machine.ts';
import { noDisks } from '../../fakes/no-disks.ts';
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

describe('flexVolume of a driver that attaches', () => {
  const global = join(rootDir, 'plugins/kubernetes.io/flexvolume/example/disk/mounts/d');
  const nodes = new BehaviorSubject<Node | undefined>(undefined);
  const ATTACHES = `echo '{"status":"Success","capabilities":{"fsGroup":false}}'`;
  const said = (device: string): string => `echo '{"status":"Success","device":"${device}"}'`;
  const json = JSON.stringify({
    'kubernetes.io/fsType': '',
    'kubernetes.io/readwrite': 'rw',
    'kubernetes.io/pvOrVolumeName': 'd',
    share: 'a',
  });
  let attachments: Attachments;
  let machine: IscsiMachine;
  let stop: AbortController;
  let running: Promise<void>;

  const begin = async (byController = false): Promise<void> => {
    const cluster = { exists: true, node: () => nodes.value, nodeChanges: nodes };
    attachments = new Attachments({ cluster, byController, clock: systemClock });
    const { mounts, flex: drivers } = stage;
    const deps = {
      rootDir,
      nodeName: 'n1',
      flex: drivers,
      roots: machine.roots,
      mounts,
      attachments,
      clock: systemClock,
      log: silentLogger,
      tell: stage.tell,
    };
    const disks = await openDisks(deps);
    stage.disks = disks;
    stage.renew();
    stop = new AbortController();
    running = disks.run(stop.signal);
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  /** Waits until it is so, as often as something is used or unused. */
  const until = (is: () => boolean): Promise<unknown> => firstOf(attachments.changes.pipe(startWith(undefined), filter(is)), signal);
  const gone = (): Promise<unknown> => until(() => !existsSync(global));

  beforeEach(async () => {
    machine = await IscsiMachine.make();
    await begin();
  });
  afterEach(async () => {
    await end();
    stage.disks = noDisks;
    await machine[Symbol.asyncDispose]();
  });

  it('is attached and mounted for the node by its driver, once, and taken back with its last pod', async () => {
    const device = { attach: said('/dev/sdx'), waitforattach: said('/dev/sdy'), mountdevice: OK, unmountdevice: OK, detach: OK };
    await drive({ init: ATTACHES, ...device, mount: OK, unmount: OK });
    await stage.volumes.prepare(podWith(flex()), signal);
    const all = await calls();
    assert.deepEqual(all.slice(0, 4), [
      'init',
      `attach ${json} n1`,
      `waitforattach /dev/sdx ${json}`,
      `mountdevice ${global} /dev/sdy ${json}`,
    ]);
    assert.match(all[4] ?? '', new RegExp(`^mount ${directory} `));
    // As a driver that mounts has left it.
    stage.mounted.set(global, 'by the driver');
    await end();
    await begin();
    assert.equal(existsSync(global), true, 'a pod has it');
    await stage.volumes.remove(uid, signal);
    await gone();
    assert.deepEqual((await calls()).slice(5), [`unmount ${directory}`, 'init', `unmountdevice ${global}`, 'detach d n1']);
    assert.deepEqual(await readdir(join(rootDir, 'plugins/kubernetes.io/flexvolume/example/disk')), []);
  });

  it('is mounted by the agent where its driver leaves that to it, as what is on the device', async () => {
    const device = join(machine.roots.dev, 'sdx');
    await writeFile(device, 'xfs');
    await drive({ init: ATTACHES, attach: said(device) });
    await stage.volumes.prepare(podWith(flex()), signal);
    assert.deepEqual(stage.mounted.get(global), { type: 'xfs', source: device, options: [] });
    assert.deepEqual(stage.mounted.get(directory), { type: 'bind', source: global, options: [] });
    await stage.volumes.remove(uid, signal);
    await gone();
    assert.equal(stage.mounted.size, 0);
  });

  it('waits for the controller where that attaches, and is not detached by the node', async () => {
    await end();
    await begin(true);
    await drive({ init: ATTACHES, waitforattach: said('/dev/sdy'), mountdevice: OK, mount: OK, unmount: OK, detach: OK });
    const name = 'flexvolume-example/disk/d';
    const prepared = stage.volumes.prepare(podWith(flex()), signal);
    await until(() => attachments.inUse().includes(name));
    nodes.next({ status: { volumesInUse: [name], volumesAttached: [{ name, devicePath: '/dev/sdc' }] } });
    await prepared;
    assert.deepEqual((await calls()).slice(0, 2), ['init', `waitforattach /dev/sdc ${json}`]);
    await stage.volumes.remove(uid, signal);
    await until(() => attachments.inUse().length === 0);
    assert.equal((await calls()).at(-1), `unmount ${directory}`);
  });

  it('is not shown to a pod whose volume has the same name and is another one', async () => {
    await drive({ init: ATTACHES, attach: said('/dev/sdx'), mountdevice: OK, mount: OK, unmount: OK });
    await stage.volumes.prepare(podWith(flex()), signal);
    const other = aPod('other', { ...podWith(flex({ options: { share: 'b' } })).spec });
    const refused = { message: /MountDevice failed for volume "d" : another volume that is called d is still mounted by the same driver/ };
    await assert.rejects(stage.volumes.prepare(other, signal), refused);
    await end();
    await begin();
    await assert.rejects(stage.volumes.prepare(other, signal), refused);
    await stage.volumes.remove(uid, signal);
    await gone();
    await stage.volumes.prepare(other, signal);
    await stage.volumes.remove(other.metadata.uid, signal);
    await gone();
  });

  it('is tried again to be detached until its driver has done so', async () => {
    await drive({ init: ATTACHES, attach: said('/dev/sdx'), mountdevice: OK, mount: OK, unmount: OK, detach: 'exit 1' });
    await stage.volumes.prepare(podWith(flex()), signal);
    await stage.volumes.remove(uid, signal);
    await drive({ init: ATTACHES, detach: OK });
    await gone();
  });
});
