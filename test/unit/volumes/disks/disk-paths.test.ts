import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { PodUid } from '../../../../src/model/pod.ts';
import { DiskPaths } from '../../../../src/volumes/disks/disk-paths.ts';
import { disksWhenNeeded } from '../../../../src/volumes/disks/disks-when-needed.ts';

describe('DiskPaths', () => {
  it("has local volumes where the kubelet has them, whose devices are below the plugin's other name", () => {
    const paths = new DiskPaths('/r');
    const of = (isBlock: boolean): string => paths.placeOf({ plugin: 'local-volume', place: 'pv', isBlock }).directory;
    assert.equal(of(false), '/r/plugins/kubernetes.io/local-volume/mounts/pv');
    assert.equal(of(true), '/r/plugins/kubernetes.io~local-volume/volumeDevices/pv');
    assert.equal(paths.linksOf('local-volume', 'uid' as PodUid), '/r/pods/uid/volumeDevices/kubernetes.io~local-volume');
  });

  it('finds what is there of each kind, and disks are opened only then', async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'disk-paths-'));
    t.after(() => rm(root, { recursive: true }));
    const paths = new DiskPaths(root);
    const places = [
      { plugin: 'iscsi', place: 'iface-a/b', isBlock: false },
      { plugin: 'iscsi', place: 'iface-a/c', isBlock: true },
      { plugin: 'fc', place: 'd', isBlock: false },
      { plugin: 'fc', place: 'e', isBlock: true },
      { plugin: 'local-volume', place: 'f', isBlock: false },
      { plugin: 'local-volume', place: 'g', isBlock: true },
    ] as const;
    let opened = 0;
    const disks = disksWhenNeeded(root, () => Promise.reject(new Error(`opened ${++opened} times`)));
    // As they are when the last one has gone.
    for (const each of ['kubernetes.io/local-volume/mounts', 'kubernetes.io~local-volume/volumeDevices'])
      await mkdir(join(root, 'plugins', each), { recursive: true });
    await disks.find();
    assert.equal(opened, 0);
    for (const each of places) await mkdir(paths.placeOf(each).directory, { recursive: true });
    for (const plugin of ['iscsi', 'fc', 'local-volume'] as const)
      assert.deepEqual(
        await paths.found(plugin),
        places.filter((each) => each.plugin === plugin).map((each) => paths.placeOf(each)),
      );
    await assert.rejects(disks.find(), { message: 'opened 1 times' });
  });
});
