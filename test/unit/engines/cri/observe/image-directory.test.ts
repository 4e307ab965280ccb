import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ImageService } from '../../../../../src/engines/cri/api/runtime_pb.js';
import { imageDirectory } from '../../../../../src/engines/cri/observe/image-directory.ts';
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
