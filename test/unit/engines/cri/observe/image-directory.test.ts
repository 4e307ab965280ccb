import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ImageService } from '../../../../../src/engines/cri/api/runtime_pb.js';
import { imageBytes, imageDirectory } from '../../../../../src/engines/cri/observe/image-directory.ts';
import { ScriptedCri } from '../../../../fakes/scripted-cri.ts';

test('the first file system of images is the one, where the runtime says it', async () => {
  const signal = new AbortController().signal;
  const cri = new ScriptedCri();
  for (const [imageFilesystems, directory] of [
    [[{ fsId: { mountpoint: '/var/lib/containerd/overlayfs' } }, { fsId: { mountpoint: '/other' } }], '/var/lib/containerd/overlayfs'],
    [[{ fsId: { mountpoint: '' } }], undefined],
    [[], undefined],
  ] as const) {
    cri.answer(ImageService.method.imageFsInfo, () => ({ imageFilesystems: [...imageFilesystems] }));
    assert.equal(await imageDirectory(cri, signal), directory);
  }
});

test('what images take there is told where the runtime says it', async () => {
  const signal = new AbortController().signal;
  const cri = new ScriptedCri();
  for (const [imageFilesystems, bytes] of [
    [[{ usedBytes: { value: 4242n } }, { usedBytes: { value: 7n } }], 4242],
    [[{ usedBytes: { value: 0n } }], 0],
    [[{}], undefined],
    [[], undefined],
  ] as const) {
    cri.answer(ImageService.method.imageFsInfo, () => ({ imageFilesystems: [...imageFilesystems] }));
    assert.equal(await imageBytes(cri, signal), bytes);
  }
});
