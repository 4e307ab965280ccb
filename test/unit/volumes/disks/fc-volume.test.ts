import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { EMPTY, filter, startWith } from 'rxjs';
import { type Clock, systemClock } from '../../../../src/base/clock.ts';
import { firstOf } from '../../../../src/base/first-of.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import type { Pod } from '../../../../src/model/pod.ts';
import { Attachments } from '../../../../src/volumes/attachments.ts';
import { fcDisk, fcDiskOfPlace, fcLinks, fcPlace, fcUniqueName } from '../../../../src/volumes/disks/fc-disk.ts';
import { openDisks } from '../../../../src/volumes/disks/open-disks.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { IscsiMachine } from '../../../fakes/iscsi-machine.ts';
import { VolumeStage } from '../../../fakes/volume-stage.ts';

const WWN = '50060e801049cfd1';
const WWID = '3600508b400105e210000900000490000';

describe('fcDisk', () => {
  it('is a unit of targets where both are given, or else what has its name', () => {
    assert.deepEqual(fcDisk({ targetWWNs: [WWN], lun: 0, wwids: [WWID] }), { wwns: [WWN], lun: 0 });
    assert.deepEqual(fcDisk({ wwids: ['SATA a disk'] }), { wwids: ['SATA_a_disk'] });
  });

  for (const [what, source] of [
    ['nothing', {}],
    ['targets without a unit', { targetWWNs: [WWN] }],
    ['a unit that is none', { targetWWNs: [WWN], lun: 256 }],
    ['a target that leads elsewhere', { targetWWNs: ['../x'], lun: 0 }],
    ['a name that leads elsewhere', { wwids: ['../../x'] }],
    ['a name of several lines', { wwids: ['a\nb'] }],
    ['the directory above', { wwids: ['..'] }],
    ['the directory of devices', { wwids: ['volumeDevices'] }],
    ['too many names', { wwids: Array.from({ length: 33 }, (_, i) => `${i}`) }],
    ['names that are too long', { wwids: ['x'.repeat(128), 'y'.repeat(127)] }],
  ] as const) {
    it(`refuses ${what}`, () => assert.throws(() => fcDisk(source), { name: 'VolumeRefusedError' }));
  }

  it('has the directory and the name that the kubelet has', () => {
    for (const [disk, place, name] of [
      [{ wwns: [WWN, 'b'], lun: 3 }, `${WWN}-b-lun-3`, `kubernetes.io/fc/[${WWN} b]:3`],
      [{ wwids: [WWID] }, WWID, `kubernetes.io/fc/[${WWID}]`],
      [{ wwids: [WWID, `${WWID}1`] }, `${WWID}-${WWID}1`, `kubernetes.io/fc/[${WWID} ${WWID}1]`],
      [{ wwids: ['SATA-a_disk'] }, 'SATA-a_disk', 'kubernetes.io/fc/[SATA-a_disk]'],
    ] as const) {
      assert.equal(fcPlace(disk), place);
      assert.equal(fcUniqueName(disk), name);
      assert.deepEqual(fcDiskOfPlace(place), disk);
    }
  });

  it('is what udev calls so', () => {
    const { directory, isName } = fcLinks({ wwns: [WWN.toUpperCase()], lun: 1 });
    assert.equal(directory, 'by-path');
    for (const name of [`fc-0x${WWN}-lun-1`, `pci-0000:41:00.0-fc-0x${WWN}-lun-1`]) assert.equal(isName(name), true, name);
    for (const name of [`fc-0x${WWN}-lun-11`, `fc-0x${WWN}-lun-1-part1`, `x-fc-0x${WWN}-lun-1`]) assert.equal(isName(name), false, name);
  });
});

describe('a Fibre Channel volume', () => {
  const stage = VolumeStage.forTests();
  const { uid, rootDir } = stage;
  const { signal } = new AbortController();
  const impatient: Clock = { ...systemClock, sleep: (ms, until) => systemClock.sleep(Math.min(ms, 1), until) };
  let machine: IscsiMachine;
  let attachments: Attachments;
  let stop: AbortController;
  let running: Promise<void>;

  beforeEach(async () => {
    machine = await IscsiMachine.make();
    const cluster = { exists: false, node: () => undefined, nodeChanges: EMPTY };
    attachments = new Attachments({ cluster, byController: true, clock: impatient });
    const disks = await openDisks({
      rootDir,
      nodeName: 'n1',
      flex: stage.flex,
      roots: machine.roots,
      mounts: stage.mounts,
      attachments,
      clock: impatient,
      log: silentLogger,
      tell: stage.tell,
    });
    stage.disks = disks;
    stage.renew();
    stop = new AbortController();
    running = disks.run(stop.signal);
  });
  afterEach(async () => {
    stop.abort();
    await running;
    await machine[Symbol.asyncDispose]();
  });

  const podOf = (fc: NonNullable<NonNullable<Pod['spec']['volumes']>[number]['fc']>): Pod =>
    aPod('web', { volumes: [{ name: 'd', fc }], containers: [aContainer('app', { volumeMounts: [{ name: 'd', mountPath: '/d' }] })] });
  const plugged = async (name: string, ...links: readonly string[]): Promise<string> => {
    const device = join(machine.roots.dev, name);
    await writeFile(device, 'ext4');
    await mkdir(join(machine.roots.sys, 'block', name, 'device'), { recursive: true });
    await writeFile(join(machine.roots.sys, 'block', name, 'device/delete'), '');
    for (const link of links) await symlink(device, join(machine.roots.dev, 'disk', link));
    return device;
  };
  const global = (place: string): string => join(rootDir, 'plugins/kubernetes.io/fc', place);
  const gone = (place: string): Promise<void> =>
    firstOf(
      attachments.changes.pipe(
        startWith(undefined),
        filter(() => !existsSync(global(place))),
      ),
      signal,
    );
  const isDeleted = async (name: string): Promise<boolean> =>
    (await readFile(join(machine.roots.sys, 'block', name, 'device/delete'), 'utf8')) === '1';

  it('is looked for by its targets, mounted, and taken from the node with its pod', async () => {
    const device = await plugged('sdb', `by-path/pci-0000:41:00.0-fc-0x${WWN}-lun-0`);
    await mkdir(join(machine.roots.sys, 'class/scsi_host/host4'));
    await writeFile(join(machine.roots.sys, 'class/scsi_host/host4/scan'), '');
    await stage.volumes.prepare(podOf({ targetWWNs: [WWN], lun: 0, fsType: 'ext4' }), signal);
    assert.equal(await readFile(join(machine.roots.sys, 'class/scsi_host/host4/scan'), 'utf8'), '- - -');
    assert.deepEqual(stage.mounted.get(global(`${WWN}-lun-0`)), { type: 'ext4', source: device, options: [] });
    await stage.volumes.remove(uid, signal);
    await gone(`${WWN}-lun-0`);
    assert.equal(await isDeleted('sdb'), true);
    assert.equal(stage.mounted.size, 0);
  });

  it('is looked for by its name, and is the device that is made of its paths', async () => {
    await plugged('sdb', `by-id/scsi-${WWID}`);
    await plugged('sdc');
    await machine.makeMultipath('dm-3', 'sdb', 'sdc');
    await writeFile(join(machine.roots.dev, 'dm-3'), 'ext4');
    await stage.volumes.prepare(podOf({ wwids: [WWID] }), signal);
    assert.deepEqual(stage.mounted.get(global(WWID)), { type: 'ext4', source: join(machine.roots.dev, 'dm-3'), options: [] });
    await stage.volumes.remove(uid, signal);
    await gone(WWID);
    assert.deepEqual(await Promise.all(['sdb', 'sdc'].map(isDeleted)), [true, true]);
  });

  it('stays on the machine where no pod has had it: a pod may name any disk', async () => {
    const device = await plugged('sda', `by-id/scsi-${WWID}`);
    await writeFile(device, 'swap');
    await assert.rejects(stage.volumes.prepare(podOf({ wwids: [WWID], fsType: 'ext4' }), signal), /it already contains swap/);
    await stage.volumes.remove(uid, signal);
    await gone(WWID);
    assert.equal(await isDeleted('sda'), false);
  });

  it('holds the pod where there is none', async () => {
    await assert.rejects(stage.volumes.prepare(podOf({ wwids: [WWID] }), signal), /WaitForAttach failed for volume "d" : no fc disk found/);
    await stage.volumes.remove(uid, signal);
    await gone(WWID);
  });
});
