import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { type CriClient, openCriClient } from '../../../src/engines/cri/client/cri-client.ts';
import { type CriFeatures, engineFeatures } from '../../../src/engines/cri/features/engine-features.ts';
import { CriImageService } from '../../../src/engines/cri/images/cri-image-service.ts';
import { type BuiltImage, anImage } from '../../builders/an-image.ts';
import { ScriptedRegistry } from '../../fakes/scripted-registry.ts';

const KILOBYTE = 1024;
const MEGABYTE = 1024 * KILOBYTE;
const never = new AbortController().signal;

describe('CriImageService against a container runtime', { timeout: 120_000 }, () => {
  let client: CriClient;
  let registry: ScriptedRegistry;
  let service: CriImageService;
  let features: CriFeatures;
  const pulled: string[] = [];
  const pull = async (image: string, credentials?: { username: string; password: string }, signal = never): Promise<string> => {
    const id = await service.pullImage(image, credentials, () => {}, signal);
    pulled.push(id);
    return id;
  };
  /** A repository, and a layer that no other test has. */
  const fresh = (bytes: number, config = {}): { repository: string; image: BuiltImage } => ({
    repository: `test/${randomUUID().slice(0, 8)}`,
    image: anImage([randomBytes(bytes)], config),
  });

  before(async () => {
    const endpoint = process.env['RXLET_TEST_CRI_ENDPOINT'];
    if (endpoint === undefined) throw new Error('RXLET_TEST_CRI_ENDPOINT names no runtime: hack/containerd.sh up DIR prints one');
    const tell = { engineCalled: () => {} };
    client = openCriClient({ endpoint, clock: systemClock, random: Math.random, requestTimeoutMs: 30_000, tell });
    features = await engineFeatures({ client, cgroupVersion: undefined, cgroupDriver: 'cgroupfs' }, never);
    service = new CriImageService({
      client,
      clock: systemClock,
      podInfraContainerImage: 'registry.k8s.io/pause:3.10',
      lastFeatures: () => features,
      imagePullProgressDeadlineMs: 2_000,
    });
  });
  after(() => client.close());
  beforeEach(async () => {
    registry = await ScriptedRegistry.start();
  });
  afterEach(async () => {
    await registry.close();
    for (const id of pulled.splice(0)) await service.removeImage(id, never);
  });

  test('a pulled image has the id of its config, its tag, its digest and its user, and is found by each of its names', async () => {
    const { repository, image } = fresh(KILOBYTE, { User: '1000:1000' });
    const name = registry.serve(repository, '1', image);
    const digest = `${registry.host}/${repository}@${image.manifest.digest}`;
    assert.equal(await pull(name), image.config.digest);
    const found = await service.inspectImage(name, never);
    assert.deepEqual([found?.id, found?.repoTags, found?.repoDigests, found?.user], [image.config.digest, [name], [digest], '1000']);
    assert.ok((found?.sizeBytes ?? 0) >= KILOBYTE);
    for (const other of [digest, image.config.digest]) assert.deepEqual(await service.inspectImage(other, never), found);
    assert.equal(await service.inspectImage(`${registry.host}/${repository}:2`, never), undefined);
    const listed = (await service.listImages(never)).find(({ id }) => id === image.config.digest);
    assert.deepEqual([listed?.repoTags, listed?.repoDigests, listed?.pinned], [[name], [digest], false]);
  });

  test('an image under two names goes with both', async () => {
    const { repository, image } = fresh(KILOBYTE);
    const names = [registry.serve(repository, '1', image), registry.serve(`${repository}/also`, '2', image)];
    for (const name of names) await service.pullImage(name, undefined, () => {}, never);
    assert.deepEqual(new Set((await service.inspectImage(image.config.digest, never))?.repoTags), new Set(names));
    await service.removeImage(image.config.digest, never);
    for (const name of names) assert.equal(await service.inspectImage(name, never), undefined);
  });

  for (const { status, code, message, words } of [
    { status: 403, code: 'DENIED', message: 'not for you', words: /403 Forbidden|not for you/ },
    { status: 404, code: 'MANIFEST_UNKNOWN', message: 'no such tag', words: /not found/ },
    { status: 500, code: 'UNKNOWN', message: 'disk full', words: /500 Internal Server Error|disk full/ },
  ])
    test(`a registry that answers ${status} is quoted, and the image is named`, async () => {
      const { repository, image } = fresh(KILOBYTE);
      const name = registry.serve(repository, '1', image, { manifestFails: { status, code, message } });
      await assert.rejects(pull(name), (error: unknown) => {
        assert.ok(error instanceof Error);
        assert.match(error.message, words);
        assert.match(error.message, /^(rpc error: code = \w+ desc = )?failed to pull and unpack image/);
        assert.ok(error.message.includes(name));
        return true;
      });
    });

  test('a closed repository opens to the right credentials and tells wrong ones apart, without repeating them', async () => {
    const { repository, image } = fresh(KILOBYTE);
    const name = registry.serve(repository, '1', image, { credentials: { username: 'ann', password: 'open-sesame' } });
    await assert.rejects(pull(name), /401 Unauthorized|authorization failed|no basic auth credentials/);
    await assert.rejects(pull(name, { username: 'ann', password: 'guess-again' }), (error: unknown) => {
      assert.ok(error instanceof Error);
      assert.match(error.message, /401|unauthorized|authorization failed/i);
      assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`, /guess-again|YW5uOmd1ZXNz/);
      return true;
    });
    assert.equal(await pull(name, { username: 'ann', password: 'open-sesame' }), image.config.digest);
  });

  test('an abort stops the download: the registry sees the connection close', async () => {
    const { repository, image } = fresh(8 * MEGABYTE);
    const name = registry.serve(repository, '1', image, { trickle: { bytes: 64 * KILOBYTE, everyMs: 20 } });
    const cut = registry.isCut(repository);
    const deletion = new AbortController();
    const reason = new Error('the pod is being deleted');
    const pulling = pull(name, undefined, deletion.signal);
    await registry.isAsked(image.layers[0]?.digest ?? 'none');
    deletion.abort(reason);
    await assert.rejects(pulling, reason);
    await cut;
    assert.equal(await service.inspectImage(name, never), undefined);
  });

  test('a slow registry is not given up as long as the runtime answers', async () => {
    const { repository, image } = fresh(2 * MEGABYTE);
    const name = registry.serve(repository, '1', image, { trickle: { bytes: 256 * KILOBYTE, everyMs: 400 } });
    const startedAtMs = systemClock.monotonicMs();
    assert.equal(await pull(name), image.config.digest);
    assert.ok(systemClock.monotonicMs() - startedAtMs > 2_000, 'no longer than the deadline');
  });

  test('a registry that falls silent in a layer is given up, by the runtime itself or in its place, and the download ends', async () => {
    const { repository, image } = fresh(4 * MEGABYTE);
    const name = registry.serve(repository, '1', image, { hangsMidLayer: true });
    const cut = registry.isCut(repository);
    const patience = new AbortController();
    const pulling = pull(name, undefined, patience.signal);
    const givenUp = assert.rejects(
      pulling,
      features.unwatchedPullsIn === undefined ? /enough/ : /no progress for 2s: .* downloads and unpacks nothing/,
    );
    await registry.isAsked(image.layers[0]?.digest ?? 'none');
    // One that watches its pulls has minutes of patience.
    if (features.unwatchedPullsIn === undefined) patience.abort(new Error('that is enough'));
    await givenUp;
    registry.resume();
    await cut;
    assert.equal(await service.inspectImage(name, never), undefined);
  });
});
