import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { access, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { BehaviorSubject, filter, startWith } from 'rxjs';
import { type Clock, systemClock } from '../../../../src/base/clock.ts';
import { firstOf } from '../../../../src/base/first-of.ts';
import { isJsonObject } from '../../../../src/base/json-object.ts';
import type { Node } from '../../../../src/model/node.ts';
import type { Pod, PodUid } from '../../../../src/model/pod.ts';
import { Attachments } from '../../../../src/volumes/attachments.ts';
import type { OpenDisks } from '../../../../src/volumes/disks/disks.ts';
import { openDisks } from '../../../../src/volumes/disks/open-disks.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { IscsiMachine } from '../../../fakes/iscsi-machine.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { base64, VolumeStage } from '../../../fakes/volume-stage.ts';

type Volume = NonNullable<Pod['spec']['volumes']>[number];
const IQN = 'iqn.2001-04.com.example:disk';
const stage = VolumeStage.forTests();
const { uid } = stage;
let machine: IscsiMachine;
let disks: OpenDisks;
let log: RecordingLogger;
let stop: AbortController;
let running: Promise<void>;
let byController: boolean;
const nodes = new BehaviorSubject<Node | undefined>(undefined);
let attachments: Attachments;
/** What is waited for comes at once, or never. */
const impatient: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 1), signal) };

const { signal } = new AbortController();

beforeEach(async () => {
  machine = await IscsiMachine.make({ luns: [0, 1] });
  machine.targets = [IQN];
  byController = false;
  await begin();
});
afterEach(async () => {
  stop.abort();
  await running;
  await machine[Symbol.asyncDispose]();
});

/** As another agent process, with what the last one has left. */
async function begin(): Promise<void> {
  log = new RecordingLogger();
  const cluster = { exists: true, node: () => nodes.value, nodeChanges: nodes };
  attachments = new Attachments({ cluster, byController, clock: impatient });
  const { rootDir, mounts, tell } = stage;
  disks = await openDisks({
    rootDir,
    nodeName: 'n1',
    flex: stage.flex,
    roots: machine.roots,
    mounts,
    attachments,
    clock: impatient,
    log,
    tell,
  });
  stage.disks = disks;
  stage.renew();
  stop = new AbortController();
  running = disks.run(stop.signal);
}

async function restart(): Promise<void> {
  stop.abort();
  await running;
  await begin();
}

/** Waits until it is so, as often as something is used or unused. */
async function until(is: () => boolean): Promise<void> {
  await firstOf(attachments.changes.pipe(startWith(undefined), filter(is)), signal);
}

/** Waits until the node has nothing of a disk any more. */
const gone = (directory: string): Promise<void> => until(() => !existsSync(directory));

async function detached(): Promise<void> {
  const plugin = join(stage.rootDir, 'plugins/kubernetes.io/iscsi');
  await until(() => readdirSync(plugin).length === 0);
  assert.deepEqual(sessions(), []);
}

const sourceOf = (path: string): unknown => {
  const mounted = stage.mounted.get(path);
  return isJsonObject(mounted) ? mounted['source'] : undefined;
};
const sessions = (): readonly string[] => [...machine.sessions.values()].map(({ portal, iface }) => `${portal} ${iface}`);
const iscsi = (over: object = {}): Volume => ({
  name: 'd',
  iscsi: { targetPortal: '10.0.0.1', iqn: IQN, lun: 0, iscsiInterface: 'default', ...over },
});
const podOf = (volume: Volume, name = 'web', spec: Partial<Pod['spec']> = {}): Pod =>
  aPod(name, { volumes: [volume], containers: [aContainer('app', { volumeMounts: [{ name: 'd', mountPath: '/d' }] })], ...spec });
const global = (lun = 0): string => join(stage.rootDir, `plugins/kubernetes.io/iscsi/iface-default/10.0.0.1:3260-${IQN}-lun-${lun}`);
const own = (of = uid): string => join(stage.rootDir, 'pods', of, 'volumes/kubernetes.io~iscsi/d');
const called = (what: string): readonly string[] => machine.calls.filter((call) => call.includes(what));

describe('an iSCSI volume', () => {
  it('is logged in to, formatted, mounted for the node, shown to the pod, and logged out of with its last pod', async () => {
    await stage.volumes.prepare(podOf(iscsi()), signal);
    const node = `iscsiadm -m node -p 10.0.0.1:3260 -T ${IQN}`;
    const discovery = 'iscsiadm -m discoverydb -t sendtargets -p 10.0.0.1:3260 -I default';
    const device = join(machine.roots.dev, 'sd10');
    assert.deepEqual(machine.calls, [
      'iscsiadm -m iface -I default -o show',
      `${discovery} -o new`,
      `${discovery} --discover`,
      `${node} -I default --login`,
      `${node} -o update -n node.startup -v manual`,
      `blkid -p -s TYPE -s PTTYPE -o export ${device}`,
      `mkfs.ext4 -F -m0 ${device}`,
      `blkid -p -s TYPE -s PTTYPE -o export ${device}`,
    ]);
    assert.equal(await readFile(join(machine.roots.sys, 'class/scsi_host/host1/scan'), 'utf8'), '0 0 0');
    assert.deepEqual(stage.mounted.get(global()), { type: 'ext4', source: device, options: [] });
    assert.deepEqual(stage.mounted.get(own()), { type: 'bind', source: global(), options: [] });
    const record = { VolName: 'd', Portals: ['10.0.0.1:3260'], Iqn: IQN, Lun: '0', Iface: 'default', InitiatorName: '' };
    assert.deepEqual(JSON.parse(await readFile(join(global(), 'iscsi.json'), 'utf8')), record);

    machine.calls.length = 0;
    await stage.volumes.remove(uid, signal);
    await detached();
    assert.deepEqual(machine.calls, [`blockdev --flushbufs ${device}`, `${node} -I default --logout`, `${node} -I default -o delete`]);
    assert.deepEqual(await readdir(join(stage.rootDir, 'plugins/kubernetes.io/iscsi')), []);
    assert.equal(stage.mounted.size, 0);
    const plugin = 'kubernetes.io/iscsi';
    assert.deepEqual(stage.reported, [`${plugin} made`, `${plugin} volume_unmount`, `${plugin} unmount_device`]);
    assert.equal(await stage.volumes.remain(uid), false);
  });

  it('is one mount for two pods, and stays until both have gone', async () => {
    const [a, b] = [podOf(iscsi()), podOf(iscsi({ readOnly: true }), 'other')];
    await stage.volumes.prepare(a, signal);
    machine.calls.length = 0;
    await stage.volumes.prepare(b, signal);
    assert.deepEqual(machine.calls, []);
    assert.deepEqual(stage.mounted.get(own('uid-other' as PodUid)), { type: 'bind', source: global(), options: ['ro'] });
    await stage.volumes.remove(uid, signal);
    assert.equal(stage.mounted.has(global()), true);
    await stage.volumes.remove('uid-other' as PodUid, signal);
    await detached();
  });

  it('is found by the next agent: nothing is done again, and it is detached with its pod', async () => {
    await stage.volumes.prepare(podOf(iscsi()), signal);
    await restart();
    assert.equal(stage.mounted.has(global()), true, 'a pod has it');
    machine.calls.length = 0;
    await stage.volumes.prepare(podOf(iscsi()), signal);
    assert.deepEqual(machine.calls, []);
    await restart();
    await stage.volumes.remove(uid, signal);
    await detached();
  });

  it('is detached by the next agent where its pod never got it', async () => {
    await mkdir(global(), { recursive: true });
    await restart();
    await detached();
    assert.equal(called('--logout').length, 1);
  });

  it('shares the session with another unit of the target, which is ended with the last of both', async () => {
    const other: Volume = { name: 'd', iscsi: { targetPortal: '10.0.0.1', iqn: IQN, lun: 1, iscsiInterface: 'default' } };
    await stage.volumes.prepare(podOf(iscsi()), signal);
    await stage.volumes.prepare(podOf(other, 'other'), signal);
    assert.equal(called('--login').length, 1);
    await stage.volumes.remove(uid, signal);
    await gone(global());
    assert.deepEqual(sessions(), ['10.0.0.1:3260 default']);
    assert.equal(await readFile(join(machine.roots.sys, 'block/sd10/device/delete'), 'utf8'), '1');
    await stage.volumes.remove('uid-other' as PodUid, signal);
    await detached();
  });

  it('does not end a session by which the machine has a file system of its own', async () => {
    await stage.volumes.prepare(podOf(iscsi()), signal);
    await mkdir(join(machine.roots.sys, 'fs/ext4/sd11'), { recursive: true });
    await stage.volumes.remove(uid, signal);
    await gone(global());
    assert.deepEqual(sessions(), ['10.0.0.1:3260 default']);
  });

  it('does not end a session by which the machine swaps', async () => {
    await stage.volumes.prepare(podOf(iscsi()), signal);
    await writeFile(
      join(machine.roots.proc, 'swaps'),
      `Filename Type Size Used Priority\n${join(machine.roots.dev, 'sd11')} partition 1 0 -2\n`,
    );
    await stage.volumes.remove(uid, signal);
    await gone(global());
    assert.deepEqual(sessions(), ['10.0.0.1:3260 default']);
  });

  it('is not taken from the node while the kernel still has its file system', async () => {
    await stage.volumes.prepare(podOf(iscsi()), signal);
    await mkdir(join(machine.roots.sys, 'fs/ext4/sd10'), { recursive: true });
    const said = log.next('disk not detached, retrying');
    await stage.volumes.remove(uid, signal);
    assert.match(String((await said).fields['error']), /sd10 is still in use/);
    assert.deepEqual(called('--logout'), []);
  });

  it('has several paths, and the device that is made of them', async () => {
    await machine.makeMultipath('dm-0', 'sd10', 'sd20');
    await stage.volumes.prepare(podOf(iscsi({ portals: ['10.0.0.2:3261'] })), signal);
    assert.deepEqual(sessions(), ['10.0.0.1:3260 default', '10.0.0.2:3261 default']);
    assert.equal(sourceOf(global()), join(machine.roots.dev, 'dm-0'));
    await stage.volumes.remove(uid, signal);
    await detached();
    assert.deepEqual(called('multipath'), [`multipath -f ${join(machine.roots.dev, 'dm-0')}`]);
  });

  it('does with the paths that there are', async () => {
    machine.faults.set('-p 10.0.0.2:3260 -I default --discover', { code: 4, stderr: 'no route' });
    await stage.volumes.prepare(podOf(iscsi({ portals: ['10.0.0.2'] })), signal);
    assert.equal(sourceOf(global()), join(machine.roots.dev, 'sd10'));
    assert.equal(called('10.0.0.2:3260 -I default --discover').length, 5);
  });

  it('has an interface with its initiator name, that goes with it', async () => {
    const initiatorName = 'iqn.2001-04.com.example:me';
    await stage.volumes.prepare(podOf(iscsi({ initiatorName })), signal);
    const iface = '10.0.0.1:3260:d';
    assert.deepEqual(sessions(), [`10.0.0.1:3260 ${iface}`]);
    const shown = await readFile(machine.record('ifaces', iface), 'utf8');
    assert.match(shown, /iface\.transport_name = tcp\niface\.initiatorname = iqn\.2001-04\.com\.example:me\n/);
    await stage.volumes.remove(uid, signal);
    await gone(global().replace('iface-default', `iface-${iface}`));
    assert.deepEqual(await readdir(machine.record('ifaces')), []);
    assert.deepEqual(sessions(), []);
  });

  it('gives CHAP what the secret says in records alone: in no argument, no log and no message', async () => {
    stage.objects.set('Secret default/chap', {
      data: {
        'discovery.sendtargets.auth.username': base64('asker'),
        'discovery.sendtargets.auth.password': base64('open sesame'),
        'node.session.auth.username': base64('user'),
        'node.session.auth.password': base64('pa=ss #word'),
      },
    });
    const seen = join(machine.directory, 'seen');
    machine.faults.set('--login', () => cp(machine.record(), seen, { recursive: true }));
    const chap = { chapAuthDiscovery: true, chapAuthSession: true, secretRef: { name: 'chap' } };
    await stage.volumes.prepare(podOf(iscsi(chap)), signal);
    assert.equal(
      await readFile(join(seen, 'send_targets/10.0.0.1,3260/st_config'), 'utf8'),
      [
        '# BEGIN RECORD',
        'discovery.sendtargets.auth.authmethod = CHAP',
        'discovery.sendtargets.auth.username = asker',
        'discovery.sendtargets.auth.password = open sesame',
        '# END RECORD\n',
      ].join('\n'),
    );
    assert.match(
      await readFile(join(seen, 'nodes', IQN, '10.0.0.1,3260,1/default'), 'utf8'),
      /authmethod = CHAP\nnode\.session\.auth\.username = user\nnode\.session\.auth\.password = pa=ss #word\n/,
    );
    assert.doesNotMatch(machine.calls.join('\n'), /sesame|pa=ss/);
    await stage.volumes.remove(uid, signal);
    await detached();
    await assert.rejects(access(machine.record('nodes', IQN, '10.0.0.1,3260,1')), 'the record went with the session');
  });

  for (const [what, over, prepare, message] of [
    [
      'whose secret is not there',
      { chapAuthSession: true, secretRef: { name: 'no' } },
      async () => {},
      /WaitForAttach failed .* Couldn't get secret default\/no error: secret "no" not found/,
    ],
    [
      'whose secret would be more than a value',
      { chapAuthSession: true, secretRef: { name: 'bad' } },
      async () =>
        void stage.objects.set('Secret default/bad', { data: { 'node.session.auth.password': base64('a\nnode.startup = automatic') } }),
      /WaitForAttach failed .* node\.session\.auth\.password of the secret has a line break/,
    ],
    [
      'whose portal does not answer',
      {},
      async () => void machine.faults.set('--discover', { code: 4, stderr: 'cannot make connection to 10.0.0.1: No route to host' }),
      /WaitForAttach failed .* failed to get any path for iscsi disk, last err seen: iscsi: failed to sendtargets to portal 10\.0\.0\.1:3260 output: cannot make connection to 10\.0\.0\.1: No route to host, err exit status 4/,
    ],
    [
      'that nobody may have',
      {},
      async () => void machine.faults.set('--login', { code: 24, stderr: 'initiator reported error (24)' }),
      /failed to attach disk: Error: initiator reported error \(24\) \(exit status 24\)/,
    ],
    ['whose disk never comes', { lun: 9 }, async () => {}, /Could not attach disk: Timeout after 10s/],
    [
      'whose interface is not there',
      { iscsiInterface: 'nosuch' },
      async () => {},
      /could not read iface nosuch error: could not read nosuch \(exit status 6\)/,
    ],
    [
      'that has another file system',
      { fsType: 'ext4' },
      () => writeFile(machine.disk(0), 'xfs'),
      /MountDevice failed .* failed to mount the volume as "ext4", it already contains xfs/,
    ],
    [
      "that has what is no file system of the node's choice",
      { fsType: 'fuse.sh' },
      () => writeFile(machine.disk(0), 'ext4'),
      /MountDevice failed .* "fuse\.sh" is no type of file system/,
    ],
    ["that would show what is the node's", { fsType: 'devtmpfs' }, () => writeFile(machine.disk(0), 'ext4'), /it already contains ext4/],
    ['that is to be read only and has nothing on it', { readOnly: true }, async () => {}, /cannot mount unformatted disk/],
    [
      'whose file system cannot be mended',
      {},
      async () => {
        await writeFile(machine.disk(0), 'ext4');
        machine.faults.set('fsck', { code: 4, stdout: 'UNEXPECTED INCONSISTENCY' });
      },
      /'fsck' found errors on device .* but could not correct them/,
    ],
  ] as const) {
    it(`holds the pod of one ${what}`, async () => {
      await prepare();
      await assert.rejects(stage.volumes.prepare(podOf(iscsi(over)), signal), message);
      assert.equal(stage.mounted.size, 0);
      machine.faults.clear();
      await stage.volumes.remove(uid, signal);
      await detached();
    });
  }

  it('says what to install where there is no iscsiadm, and leaves nothing', async () => {
    machine.faults.set('iscsiadm', 'missing');
    await assert.rejects(stage.volumes.prepare(podOf(iscsi()), signal), {
      message:
        'MountVolume.CanMount failed for volume "d" : Verify that your node machine has the required components before attempting to mount this volume type. ' +
        'Required binary iscsiadm is missing (package open-iscsi of Debian, Ubuntu and SUSE, iscsi-initiator-utils elsewhere)',
    });
    await stage.volumes.remove(uid, signal);
    await detached();
    assert.deepEqual(log.lines, []);
  });

  it('holds up no pod of another target where iscsiadm hangs', async () => {
    machine.faults.set('10.9.9.9:3260 -I default --discover', 'hang');
    const called = machine.called('10.9.9.9:3260 -I default --discover');
    const hangs = new AbortController();
    const waits = stage.volumes.prepare(
      podOf(iscsi({ targetPortal: '10.9.9.9', iqn: 'iqn.2001-04.com.example:dead' }), 'dead'),
      hangs.signal,
    );
    await called;
    await stage.volumes.prepare(podOf(iscsi()), signal);
    hangs.abort(new Error('enough'));
    await assert.rejects(waits, /enough/);
  });
});

describe('an iSCSI volume of a claim', () => {
  beforeEach(() => {
    stage.claims.set('data', { metadata: { name: 'data', uid: 'c1' }, spec: { volumeName: 'd' }, status: { phase: 'Bound' } });
  });
  const claimed = (spec: object = {}, over: object = {}): Volume => {
    stage.persistentVolumes.set('d', {
      metadata: { name: 'd' },
      spec: { claimRef: { uid: 'c1' }, iscsi: { targetPortal: '10.0.0.1', iqn: IQN, lun: 0, ...over }, ...spec },
    });
    return { name: 'd', persistentVolumeClaim: { claimName: 'data' } };
  };

  it('has its mount options, and its secret where it says', async () => {
    stage.objects.set('Secret storage/chap', { data: { 'node.session.auth.password': base64('x') } });
    const volume = claimed(
      { mountOptions: ['noatime'] },
      { chapAuthSession: true, secretRef: { name: 'chap', namespace: 'storage' }, fsType: 'xfs' },
    );
    await stage.volumes.prepare(podOf(volume), signal);
    assert.deepEqual(stage.mounted.get(global()), { type: 'xfs', source: join(machine.roots.dev, 'sd10'), options: ['noatime'] });
  });

  it('is a device where the claim wants one', async () => {
    const volume = claimed({ volumeMode: 'Block' });
    const pod = aPod('web', {
      volumes: [volume],
      containers: [aContainer('app', { volumeDevices: [{ name: 'd', devicePath: '/dev/x' }] })],
    });
    await stage.volumes.prepare(pod, signal);
    const directory = global().replace('/iscsi/', '/iscsi/volumeDevices/');
    const device = join(directory, uid);
    assert.deepEqual(stage.volumes.devicesFor(pod, pod.spec.containers[0] ?? aContainer('app')), [
      { hostPath: device, containerPath: '/dev/x', permissions: 'rwm' },
    ]);
    assert.deepEqual([...stage.mounted], [[device, join(machine.roots.dev, 'sd10')]]);
    assert.deepEqual(called('mkfs'), []);
    await restart();
    assert.equal(await stage.volumes.remain(uid), true);
    await stage.volumes.remove(uid, signal);
    await gone(directory);
    assert.deepEqual(sessions(), []);
    assert.equal(await stage.volumes.remain(uid), false);
  });
});

describe('an iSCSI volume of a node whose volumes the controller attaches', () => {
  const name = `kubernetes.io/iscsi/10.0.0.1:${IQN}:0`;
  const says = (volumesInUse: readonly string[], attached: readonly string[]): void =>
    nodes.next({ status: { volumesInUse: [...volumesInUse], volumesAttached: attached.map((each) => ({ name: each, devicePath: '' })) } });
  beforeEach(async () => {
    byController = true;
    says([], []);
    await restart();
  });

  it('is in use from the first, waits until it is attached, and is in use until it is gone', async () => {
    const prepared = stage.volumes.prepare(podOf(iscsi()), signal);
    await until(() => attachments.inUse().includes(name));
    says([name], []);
    assert.deepEqual(machine.calls, []);
    says([name], [name]);
    await prepared;
    await restart();
    assert.equal(attachments.inUse().includes(name), true);
    says([], []);
    await stage.volumes.prepare(podOf(iscsi()), signal);
    await stage.volumes.remove(uid, signal);
    await detached();
    await until(() => attachments.inUse().length === 0);
  });
});
