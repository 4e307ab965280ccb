import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { errorText } from '../../src/base/error-text.ts';
import type { PullProgress } from '../../src/ports/image-service.ts';
import type { RuntimeWorld } from './runtime-world.ts';

/** What an ImageService promises; about pulls that succeed only where a registry serves an image. */
export function imageContract(world: () => RuntimeWorld, servedImage: string | undefined): void {
  describe('images', () => {
    test('an image that the engine has is described', async () => {
      const info = await world().images.inspectImage(world().image, world().signal);
      assert.ok(info);
      assert.match(info.id, /^sha256:[0-9a-f]{64}$/);
      assert.ok(info.repoTags.includes(world().image), JSON.stringify(info));
      assert.ok(info.sizeBytes > 0);
      assert.equal(info.user, '');
    });

    test('an image is found by its id', async () => {
      const info = await world().images.inspectImage(world().image, world().signal);
      assert.deepEqual(await world().images.inspectImage(info?.id ?? '', world().signal), info);
    });

    test('a listing has every image, under all its names', async () => {
      const listed = await world().images.listImages(world().signal);
      const image = listed.find(({ repoTags }) => repoTags.includes(world().image));
      assert.equal(image?.id, (await world().images.inspectImage(world().image, world().signal))?.id);
      assert.ok(image && image.sizeBytes > 0);
    });

    test('an image that the engine lacks is undefined', async () => {
      assert.equal(await world().images.inspectImage(`absent-${randomUUID()}:none`, world().signal), undefined);
    });

    test('an image that the engine lacks is not exported', async () => {
      const absent = `absent-${randomUUID()}:none`;
      await assert.rejects(world().images.exportImage(absent, '/tmp', 1, world().signal), (error) => {
        assert.match(errorText(error), world().facts.absentImageFiles);
        return true;
      });
    });

    if (servedImage !== undefined)
      test('a pull resolves with the id of the image, and never tells more done than there is', async () => {
        const told: PullProgress[] = [];
        const id = await world().images.pullImage(servedImage, undefined, (progress) => told.push(progress), world().signal);
        assert.equal(id, (await world().images.inspectImage(servedImage, world().signal))?.id);
        for (const { layersDone, layers, bytesDone, bytes } of told)
          assert.ok(layersDone <= layers && bytesDone <= bytes, JSON.stringify(told));
      });

    test('an image that nothing was made from is removed with all its names; to remove it again is no error', async () => {
      const { images, signal } = world();
      const name = await world().makeImage();
      const id = (await images.inspectImage(name, signal))?.id ?? '';
      assert.ok(!(await images.imagesInUse(signal)).has(id));
      await images.removeImage(id, signal);
      assert.equal(await images.inspectImage(name, signal), undefined);
      // containerd may still be taking in what was said of the image when it was made, and then puts it into its list once more for a moment.
      const isListed = async (): Promise<boolean> => (await images.listImages(signal)).some((image) => image.id === id);
      for (let looks = 0; await isListed(); looks++) {
        assert.ok(looks < 100, 'it stays in the list');
        await sleep(100, undefined, { signal });
      }
      await images.removeImage(id, signal);
    });

    test('an image that a container was made from, running or dead, is in use, and keeps its names when it is to be removed', async () => {
      const { images, signal } = world();
      const before = await images.inspectImage(world().image, signal);
      const id = before?.id ?? '';
      const { pod, id: container } = await world().run('exit 0');
      await world().ended(pod, container);
      assert.ok((await images.imagesInUse(signal)).has(id));
      await assert.rejects(images.removeImage(id, signal), /is used by/);
      assert.deepEqual(await images.inspectImage(world().image, signal), before);
    });

    test('a pull from a registry that nobody serves rejects with words', async () => {
      const pull = world().images.pullImage('127.0.0.1:1/nothing:1', undefined, () => {}, world().signal);
      await assert.rejects(pull, (error) => error instanceof Error && error.message !== '');
    });
  });
}
