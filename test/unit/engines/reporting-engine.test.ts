import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EMPTY } from 'rxjs';
import { reportingImages, reportingRuntime } from '../../../src/engines/reporting-engine.ts';
import type { ContainerId, ContainerRuntime } from '../../../src/ports/container-runtime.ts';
import type { RuntimeOperation } from '../../../src/ports/happenings.ts';
import type { ImageService } from '../../../src/ports/image-service.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { notTraced } from '../../../src/ports/tracing.ts';

const never = new AbortController().signal;

const unasked = (): Promise<never> => Promise.reject(new Error('not asked for'));
const runtime: ContainerRuntime = {
  hints: EMPTY,
  info: unasked,
  listPods: () => Promise.resolve([]),
  observePod: unasked,
  runSandbox: unasked,
  createContainer: unasked,
  startContainer: unasked,
  updateContainer: unasked,
  stopContainer: unasked,
  removeContainer: unasked,
  stopSandbox: unasked,
  removeSandbox: unasked,
};
const images: ImageService = {
  inspectImage: unasked,
  listImages: () => Promise.resolve([]),
  pullImage: unasked,
  imagesInUse: unasked,
  removeImage: unasked,
  exportImage: unasked,
};

describe('each verb is told by the kubelet’s name for it, with its time', () => {
  const setUp = () => {
    const clock = new FakeClock();
    const told: RuntimeOperation[] = [];
    return { clock, told, tell: { runtimeOperated: (operation: RuntimeOperation): void => void told.push(operation) } };
  };

  test('whether it works or not', async () => {
    const { clock, told, tell } = setUp();
    const slow: ContainerRuntime = { ...runtime, listPods: () => clock.sleep(2000).then(() => []) };
    const by = reportingRuntime(slow, { clock, tell, tracing: notTraced });
    const listed = by.listPods(never);
    await clock.advance(2000);
    assert.deepEqual(await listed, []);
    await assert.rejects(by.removeContainer('none' as ContainerId, never), /^Error: not asked for$/);
    assert.equal(by.hints, slow.hints);
    assert.deepEqual(told, [
      { operation: 'list_containers', tookMs: 2000, failed: false },
      { operation: 'remove_container', tookMs: 0, failed: true },
    ]);
  });

  test('of images, too', async () => {
    const { clock, told, tell } = setUp();
    const by = reportingImages(images, { clock, tell, tracing: notTraced });
    assert.deepEqual(await by.listImages(never), []);
    await assert.rejects(by.inspectImage('a', never));
    assert.deepEqual(told, [
      { operation: 'list_images', tookMs: 0, failed: false },
      { operation: 'image_status', tookMs: 0, failed: true },
    ]);
  });
});
