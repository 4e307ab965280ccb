import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodUid } from '../../../src/model/pod.ts';
import { bookedVolume, VolumeBook } from '../../../src/volumes/volume-book.ts';
import type { VolumeKind } from '../../../src/volumes/volume-kind.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordedHappenings } from '../../fakes/recorded-happenings.ts';

const uid = 'u' as PodUid;
const kind = (plugin: string): VolumeKind => ({
  plugin,
  changes: false,
  takesMountOptions: false,
  setUp: () => Promise.reject(new Error()),
});
const nfs = bookedVolume(kind('kubernetes.io~nfs'), { nfs: { server: 's', path: '/' } }, false);
const persistent = { metadata: {}, spec: { csi: { driver: 'disk.org', volumeHandle: 'h' } } };
const device = bookedVolume(kind('kubernetes.io~csi'), { claimed: { persistent, claim: {}, isMigrated: true } }, true);

function aBook() {
  const clock = new FakeClock();
  const { tell, happened } = new RecordedHappenings();
  const { signal } = new AbortController();
  return { clock, happened, signal, book: new VolumeBook({ clock, tell }) };
}

test('what is done about a volume is told with its kind and how long it took; of what CSI drivers make they tell the end', async () => {
  const { clock, happened, signal, book } = aBook();
  const slow = async (): Promise<void> => {
    await clock.advance(70);
  };
  await book.making(uid, 'n', nfs, signal, slow);
  await book.making(uid, 'd', device, signal, slow);
  await book.giving(nfs, signal, slow);
  await assert.rejects(book.ending(uid, signal, () => Promise.reject(new Error('target is busy'))));
  await book.ending(uid, signal, slow);
  await book.ending(uid, signal, slow);
  const ofNfs = { plugin: 'kubernetes.io/nfs', isMigrated: false };
  assert.deepEqual(
    happened.map(({ what }) => what),
    [
      { ...ofNfs, isDevice: false, tookMs: 70, failed: false },
      { plugin: 'kubernetes.io/csi:disk.org', isMigrated: true, isDevice: true, tookMs: 70, failed: false },
      { ...ofNfs, operation: 'volume_apply_access_control', tookMs: 70, failed: false },
      { ...ofNfs, operation: 'volume_unmount', tookMs: 0, failed: true },
      { ...ofNfs, operation: 'volume_unmount', tookMs: 70, failed: false },
    ],
  );
});

test('what was given up is not told', async () => {
  const { happened, book } = aBook();
  const stop = new AbortController();
  const givenUp = (): Promise<never> => {
    stop.abort(new Error('given up'));
    return Promise.reject(stop.signal.reason);
  };
  await assert.rejects(book.making(uid, 'n', nfs, stop.signal, givenUp));
  await assert.rejects(book.giving(nfs, stop.signal, givenUp));
  assert.deepEqual(happened, []);
});

test('volumes of more drivers than nodes have are counted together', async () => {
  const { signal, book } = aBook();
  for (let n = 0; n < 502; n++) {
    const csi = bookedVolume(kind('kubernetes.io~csi'), { csi: { driver: `d${n}.org` } }, false);
    await book.making(`u${n}` as PodUid, 'v', csi, signal, async () => {});
  }
  const series = (plugin: string, state: string): string =>
    `volume_manager_total_volumes{plugin_name="${plugin}",state="${state}_state_of_world"}`;
  const lines = book.text().split('\n');
  for (const state of ['actual', 'desired']) {
    assert.ok(lines.includes(`${series('kubernetes.io/csi:d0.org', state)} 1`));
    assert.ok(lines.includes(`${series('other', state)} 2`));
  }
});

test('volumes of drivers that are not there hide none of those that are', async () => {
  const { signal, book } = aBook();
  for (let n = 0; n < 600; n++) {
    const csi = bookedVolume(kind('kubernetes.io~csi'), { csi: { driver: `made-up-${n}` } }, false);
    await assert.rejects(book.making(uid, `v${n}`, csi, signal, () => Promise.reject(new Error('not found'))));
  }
  await book.making('u2' as PodUid, 'n', nfs, signal, async () => {});
  assert.match(book.text(), /plugin_name="kubernetes\.io\/nfs",state="desired_state_of_world"} 1$/m);
});
