import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capability } from '../../../src/images/capability.ts';
import { ContainerStartError } from '../../../src/model/container-start-error.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { nodeUnderTest } from '../../builders/node-parts.ts';

const { signal } = new AbortController();

test('an image is pulled, which is recorded and told of', async (t) => {
  const scene = nodeUnderTest();
  t.after(() => scene.node.engine.close());
  const { images } = await capability(scene.node);
  assert.ok(images);
  assert.match(await scene.clock.until(images.ensureImage(aPod('web'), aContainer('app', { image: 'nginx' }), signal)), /^sha256:/);
  assert.deepEqual(
    scene.events.map(({ reason }) => reason),
    ['Pulling', 'Pulled'],
  );
  const notes = scene.happened.flatMap((each) => (each.name === 'noted' ? [each.what] : []));
  assert.match(notes.at(-1)?.message ?? '', /^pulled nginx in /);
  assert.equal(notes.at(-1)?.uid, 'uid-web');
});

test('pulls above the rate are refused', async (t) => {
  const scene = nodeUnderTest({ options: { registryQps: 1, registryBurst: 1, serializeImagePulls: false } });
  t.after(() => scene.node.engine.close());
  const { images } = await capability(scene.node);
  assert.ok(images);
  const ensure = (image: string): Promise<string> => images.ensureImage(aPod(image), aContainer('app', { image }), signal);
  const ends = await scene.clock.until(Promise.allSettled([ensure('nginx'), ensure('redis')]), 1);
  const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
  assert.equal(refused.length, 1);
  assert.ok(refused[0] instanceof ContainerStartError);
  assert.equal(refused[0].message, 'pull QPS exceeded');
});
