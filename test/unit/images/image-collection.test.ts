import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { capability } from '../../../src/images/capability.ts';
import type { Pod } from '../../../src/model/pod.ts';
import type { KubeletOptions } from '../../../src/options/kubelet-options.ts';
import type { FilesystemStats } from '../../../src/ports/pod-stats.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { nodeUnderTest, nothingGiven, runServices } from '../../builders/node-parts.ts';

const { signal } = new AbortController();
const MINUTE = 60_000;
/** Time for a look at the images, and for what comes of it. */
const ROUND = 5 * MINUTE + 1000;
const full = { capacityBytes: 1e9, availableBytes: 0 };

interface Setting {
  readonly options?: Partial<KubeletOptions>;
  readonly fs?: Partial<FilesystemStats> | Error;
  /** There before the agent. */
  readonly images?: readonly string[];
  /** No source has said yet which pods it wants. */
  readonly unsynced?: true;
}

/** Records of pulls are on a disk, which has a time of its own. */
const featureGates = { KubeletEnsureSecretPulledImages: false };

/** An agent's image capability on the embedded engine, with images and a file system as given. */
async function setUp(t: TestContext, { options = {}, fs = full, images = ['old:1', 'older:1'], unsynced }: Setting) {
  const scene = nodeUnderTest({ options: { featureGates, ...options } });
  if (!unsynced) scene.declare();
  const { node, clock, events } = scene;
  const { engine } = node;
  t.after(() => engine.close());
  const pull = (image: string): Promise<string> => clock.until(engine.images.pullImage(image, undefined, () => {}, signal));
  const present = async (): Promise<readonly string[]> =>
    (await clock.until(engine.images.listImages(signal))).flatMap(({ repoTags }) => repoTags).toSorted();
  for (const image of images) await pull(image);
  const contribution = await capability(node);
  const measured = { fs };
  const stats = {
    pods: async () => [],
    node: async () => {
      if (measured.fs instanceof Error) throw measured.fs;
      return { startedAtMs: 0, systemContainers: [], imageFs: { atMs: 0, ...measured.fs } };
    },
  };
  const services = runServices(contribution.services, { ...nothingGiven, stats });
  t.after(() => clock.until(services.stop()));
  const warnings = (): readonly string[] =>
    events.filter(({ type }) => type === 'Warning').map(({ reason, message }) => `${reason}: ${message}`);
  return { ...scene, contribution, engine, pull, present, measured, warnings };
}

/** A container of the pod, running or dead, as the engine has it. */
async function run({ clock, engine }: Pick<Awaited<ReturnType<typeof setUp>>, 'clock' | 'engine'>, pod: Pod): Promise<void> {
  const [container = aContainer('app')] = pod.spec.containers;
  const image = await clock.until(engine.images.inspectImage(container.image ?? '', signal));
  const sandbox = await clock.until(engine.runtime.runSandbox(pod, { attempt: 0, hostname: 'pod' }, signal));
  const spec = { container, attempt: 0, imageRef: image?.id ?? '', env: [], command: undefined, args: undefined, mounts: [] };
  await clock.until(engine.runtime.startContainer(pod, sandbox.id, spec, signal));
}

describe('unused images are removed', () => {
  test('only once every source has said which pods it wants, also where the node asks for their space', async (t) => {
    const { clock, contribution, declare, present } = await setUp(t, { unsynced: true });
    await clock.advance(ROUND);
    assert.deepEqual(await Promise.all((contribution.reclaim ?? []).map((each) => clock.until(each.reclaim(signal)))), [0]);
    assert.deepEqual(await present(), ['old:1', 'older:1']);
    declare();
    await clock.advance(ROUND);
    assert.deepEqual(await present(), []);
  });

  test('above the high threshold: those in use stay, dead containers and declared pods included', async (t) => {
    const scene = await setUp(t, { images: ['unused:1', 'running:1', 'dead:1', 'declared:1', 'volume:1'] });
    const { clock, engine, present, happened } = scene;
    await run(scene, aPod('running', { containers: [aContainer('app', { image: 'running:1' })] }));
    const dead = aPod('dead', { containers: [aContainer('app', { image: 'dead:1', command: ['true'] })] });
    await run(scene, dead);
    scene.declare(
      aPod('declared', {
        containers: [aContainer('app', { image: 'docker.io/library/declared:1' })],
        volumes: [{ name: 'v', image: { reference: 'volume:1' } }],
      }),
    );
    await clock.advance(ROUND);
    assert.deepEqual(await present(), ['dead:1', 'declared:1', 'running:1', 'volume:1']);
    assert.equal(happened.filter(({ name }) => name === 'imageRemoved').length, 1);
    for (const { sandboxes } of [await clock.until(engine.runtime.observePod(dead.metadata.uid, signal))])
      for (const { id } of sandboxes) await clock.until(engine.runtime.removeSandbox(id, signal));
    await clock.advance(ROUND);
    assert.deepEqual(await present(), ['declared:1', 'running:1', 'volume:1']);
  });

  test('not below it, and not in the first 5 minutes: manifests may not have been read yet', async (t) => {
    const { clock, present, measured } = await setUp(t, { fs: { capacityBytes: 100, availableBytes: 16 } });
    await clock.advance(ROUND);
    assert.deepEqual(await present(), ['old:1', 'older:1']);
    measured.fs = { capacityBytes: 100, availableBytes: 15 };
    await clock.advance(ROUND);
    assert.deepEqual(await present(), ['older:1']);
  });

  test('a pod that has ended needs its image no more', async (t) => {
    const { clock, declare, setStatus, present } = await setUp(t, { images: ['job:1'] });
    const job = aPod('job', { containers: [aContainer('app', { image: 'job:1' })] });
    declare(job);
    await clock.advance(ROUND);
    assert.deepEqual(await present(), ['job:1']);
    setStatus(job, { phase: 'Succeeded' });
    await clock.advance(ROUND);
    assert.deepEqual(await present(), []);
  });

  test('one that came less than the minimum age ago stays, also where the date is set forward', async (t) => {
    const { clock, pull, present } = await setUp(t, { options: { imageMinimumGcAgeMs: 10 * MINUTE }, images: [] });
    await clock.advance(4 * MINUTE);
    await pull('new:1');
    clock.moveDate(365 * 24 * 60 * MINUTE);
    await clock.advance(2 * ROUND);
    assert.deepEqual(await present(), ['new:1']);
    await clock.advance(ROUND);
    assert.deepEqual(await present(), []);
  });

  test('one that was used last longer than the maximum age ago goes, once the agent has been up for longer', async (t) => {
    const empty = { capacityBytes: 100, availableBytes: 100 };
    const { clock, present } = await setUp(t, { options: { imageMaximumGcAgeMs: 15 * MINUTE }, fs: empty });
    await clock.advance(3 * ROUND - 10_000);
    assert.deepEqual(await present(), ['old:1', 'older:1']);
    await clock.advance(ROUND);
    assert.deepEqual(await present(), []);
  });

  test('when eviction asks for their space, with what that gave', async (t) => {
    const { clock, contribution, engine, present } = await setUp(t, {});
    const sizes = (await clock.until(engine.images.listImages(signal))).map(({ sizeBytes }) => sizeBytes);
    await clock.advance(1000);
    const [reclaimer] = contribution.reclaim ?? [];
    assert.equal(reclaimer?.resource, 'imagefs');
    assert.equal(
      await clock.until(reclaimer.reclaim(signal)),
      sizes.reduce((sum, size) => sum + size, 0),
    );
    assert.deepEqual(await present(), []);
  });
});

test('eviction and the regular look do not remove the same images at the same time', async (t) => {
  const { clock, contribution, controls, present } = await setUp(t, {});
  await clock.advance(5 * MINUTE - 1000);
  const [reclaimer] = contribution.reclaim ?? [];
  assert.ok(reclaimer);
  for (let ms = 0; ms < 2000 && controls.calls('listImages') < 2; ms++) await clock.advance(1);
  await clock.until(Promise.all([reclaimer.reclaim(signal), reclaimer.reclaim(signal)]), 1);
  assert.deepEqual([await present(), controls.calls('removeImage')], [[], 2]);
});

describe('a removal', () => {
  test('that fails or hangs is said, and the next image is removed', async (t) => {
    const { clock, controls, present, log, warnings } = await setUp(t, { images: ['a:1', 'b:1', 'c:1'] });
    controls.fail('removeImage');
    controls.hang('removeImage');
    await clock.advance(ROUND);
    await clock.advance(3 * MINUTE);
    assert.equal((await present()).length, 2);
    assert.equal(log.count('an unused image cannot be removed'), 2);
    // A first failure is no event yet.
    assert.deepEqual(warnings(), []);
    controls.fail('removeImage', new Error('busy'), 2);
    await clock.advance(ROUND);
    assert.match(
      warnings().join('\n'),
      /^ImageGCFailed: wanted to free \d+ bytes, but freed 0 bytes space with errors in image deletion: busy$/,
    );
  });

  test('of an image that a new pod names is waited for, and the pod pulls it again', async (t) => {
    const { clock, controls, contribution, declare, present, engine } = await setUp(t, { images: ['web:1'] });
    await clock.advance(5 * MINUTE - 1000);
    for (let ms = 0; ms < 2000 && controls.calls('removeImage') === 0; ms++) await clock.advance(1);
    assert.equal(controls.calls('removeImage'), 1, 'the removal is under way');
    const pod = aPod('web', { containers: [aContainer('app', { image: 'web:1' })] });
    declare(pod);
    const puller = contribution.images;
    assert.ok(puller);
    const id = await clock.until(puller.ensureImage(pod, aContainer('app', { image: 'web:1' }), signal), 1);
    assert.equal(id, (await clock.until(engine.images.inspectImage('web:1', signal)))?.id);
    await clock.advance(2 * ROUND);
    assert.deepEqual(await present(), ['web:1']);
  });

  test('never meets the images of 100 pods that start meanwhile', async (t) => {
    const images = Array.from({ length: 100 }, (_, i) => `app-${i}:1`);
    const scene = await setUp(t, { images, options: { serializeImagePulls: false, registryQps: 0 } });
    const { clock, contribution, declare, controls } = scene;
    await clock.advance(5 * MINUTE - 20);
    const starts = images.map(async (image, i) => {
      await clock.sleep(i * 7, signal);
      const pod = aPod(`pod-${i}`, { containers: [aContainer('app', { image })] });
      declare(pod);
      const [container = aContainer('app')] = pod.spec.containers;
      const id = await contribution.images?.ensureImage(pod, container, signal);
      // As late as a start may be: the sandbox took its time.
      await clock.sleep(500, signal);
      assert.ok(await scene.engine.images.inspectImage(id ?? '', signal), `${image} was removed under its pod`);
    });
    await clock.until(Promise.all(starts));
    assert.ok(controls.calls('removeImage') > 5, 'images were removed at the same time');
  });
});

describe('numbers that are none', () => {
  const absurd: readonly Partial<FilesystemStats>[] = [
    {},
    { capacityBytes: 0, availableBytes: 0 },
    { capacityBytes: 100 },
    { capacityBytes: Number.NaN, availableBytes: 0 },
    { capacityBytes: -5, availableBytes: 0 },
    { capacityBytes: 100, availableBytes: -1 },
    { capacityBytes: 100, availableBytes: Number.NaN },
    { capacityBytes: 100, availableBytes: 1e300 },
  ];
  for (const fs of absurd)
    test(`of a file system are no full disk: ${JSON.stringify(fs)}`, async (t) => {
      const { clock, present } = await setUp(t, { fs });
      await clock.advance(2 * ROUND);
      assert.deepEqual(await present(), ['old:1', 'older:1']);
    });

  test('are an event, as the kubelet words it, and what fails twice is one more', async (t) => {
    const { clock, warnings, measured } = await setUp(t, { fs: { capacityBytes: 0, availableBytes: 0 } });
    await clock.advance(2 * ROUND);
    const words = 'invalid capacity 0 on image filesystem';
    assert.deepEqual(warnings(), [`InvalidDiskCapacity: ${words}`, `InvalidDiskCapacity: ${words}`, `ImageGCFailed: ${words}`]);
    measured.fs = new Error('statfs: input/output error');
    await clock.advance(ROUND);
    assert.equal(warnings().at(-1), 'ImageGCFailed: statfs: input/output error');
  });

  test('where there is too little to remove, it is said as the kubelet does', async (t) => {
    const { clock, warnings } = await setUp(t, { images: [], fs: { capacityBytes: 3 * 1024 ** 3, availableBytes: 0 } });
    await clock.advance(ROUND);
    assert.deepEqual(warnings(), [
      "FreeDiskSpaceFailed: Insufficient free disk space on the node's image filesystem (100% of 3.0 GiB used). Failed to free sufficient space by deleting unused images (freed 0 bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.",
    ]);
  });
});

test('thresholds of 100 without a maximum age remove nothing', async (t) => {
  const { clock, present } = await setUp(t, { options: { imageGcHighThresholdPercent: 100, imageGcLowThresholdPercent: 80 } });
  await clock.advance(30 * MINUTE);
  assert.deepEqual(await present(), ['old:1', 'older:1']);
});
