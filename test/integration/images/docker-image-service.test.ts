import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { testEndpoint } from '../../builders/docker-under-test.ts';
import type { EngineClient } from '../../../src/engines/docker/client/engine-client.ts';
import type { PullProgress } from '../../../src/ports/image-service.ts';
import { anImage } from '../../builders/an-image.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { ScriptedRegistry } from '../../fakes/scripted-registry.ts';
import { anEngineClient, dockerImages } from '../../builders/docker-parts.ts';
import type { DockerImageService, DockerImageServiceOptions } from '../../../src/engines/docker/images/docker-image-service.ts';

const KILOBYTE = 1024;
const MEGABYTE = 1024 * KILOBYTE;
const never = new AbortController().signal;

describe('DockerImageService against a Docker engine', { timeout: 120_000 }, () => {
  let engine: EngineClient;
  let registry: ScriptedRegistry;
  let service: DockerImageService;
  const pulled: string[] = [];
  const open = (over?: Partial<DockerImageServiceOptions>): DockerImageService => dockerImages(engine, systemClock, over);
  const pull = async (image: string, credentials?: { username: string; password: string }): Promise<string> => {
    const id = await service.pullImage(image, credentials, () => {}, never);
    pulled.push(image);
    return id;
  };
  /** A repository, and layers that no other test has. */
  const fresh = (...sizes: readonly number[]): { repository: string; image: ReturnType<typeof anImage> } => ({
    repository: `test/${randomUUID().slice(0, 8)}`,
    image: anImage(sizes.map((size) => randomBytes(size))),
  });

  before(() => {
    engine = anEngineClient(testEndpoint, systemClock);
  });
  after(() => engine.close());
  beforeEach(async () => {
    registry = await ScriptedRegistry.start();
    service = open();
  });
  afterEach(async () => {
    await registry.close();
    for (const image of pulled.splice(0)) await engine.call(`DELETE ${image}`, 60_000, never, (docker) => docker.getImage(image).remove());
    assert.deepEqual(engine.pendingCalls(), []);
  });

  test('an image that the engine does not have is undefined, not an error', async () => {
    assert.equal(await service.inspectImage('test/absent:1', never), undefined);
  });

  test('a pulled image has the id of its config, its tag, its digest and its user', async () => {
    const { repository } = fresh();
    const image = anImage([randomBytes(KILOBYTE), randomBytes(KILOBYTE)], { User: '1000:1000' });
    const name = registry.serve(repository, '1', image);
    assert.equal(await pull(name), image.config.digest);
    const found = await service.inspectImage(name, never);
    assert.equal(found?.id, image.config.digest);
    assert.deepEqual(found.repoTags, [name]);
    assert.deepEqual(found.repoDigests, [`${registry.host}/${repository}@${image.manifest.digest}`]);
    assert.equal(found.user, '1000:1000');
    assert.ok(found.sizeBytes >= 2 * KILOBYTE);
  });

  test('an image is found by its digest and by its id, and not by the beginning of its id', async () => {
    const { repository, image } = fresh(KILOBYTE);
    const name = registry.serve(repository, '1', image);
    const id = await pull(name);
    assert.equal((await service.inspectImage(`${registry.host}/${repository}@${image.manifest.digest}`, never))?.id, id);
    assert.equal((await service.inspectImage(id, never))?.id, id);
    assert.equal(await service.inspectImage(id.replace('sha256:', '').slice(0, 12), never), undefined);
    assert.equal(await service.inspectImage(`${registry.host}/${repository}:2`, never), undefined);
  });

  test('an image is pulled by its digest', async () => {
    const { repository, image } = fresh(KILOBYTE);
    registry.serve(repository, '1', image);
    assert.equal(await pull(`${registry.host}/${repository}@${image.manifest.digest}`), image.config.digest);
  });

  test('progress counts layers and bytes up to all of them', async () => {
    const { repository, image } = fresh(3 * MEGABYTE, 2 * MEGABYTE);
    const name = registry.serve(repository, '1', image, { trickle: { bytes: 640 * KILOBYTE, everyMs: 300 } });
    const clock = new FakeClock();
    let steps = 0;
    const nearlyTooSlow = (): void => {
      steps++;
      void clock.advance(1400);
    };
    await dockerImages(engine, clock, { imagePullProgressDeadlineMs: 1500 }).pullImage(name, undefined, nearlyTooSlow, never);
    pulled.push(name);
    assert.ok(steps > 2, `${steps} steps of progress`);
  });

  test('an unknown tag is refused in the words of the registry', async () => {
    const { repository, image } = fresh(KILOBYTE);
    registry.serve(repository, '1', image);
    await assert.rejects(pull(`${registry.host}/${repository}:nope`), /^Error: Error response from daemon: .*manifest unknown/);
  });

  const refusals = [
    { status: 401, code: 'UNAUTHORIZED', message: 'authentication required', words: /no basic auth credentials|unauthorized/ },
    { status: 403, code: 'DENIED', message: 'not for you', words: /denied: not for you|pull access denied/ },
    { status: 404, code: 'NAME_UNKNOWN', message: 'no such repository', words: /name unknown: no such repository/ },
    { status: 500, code: 'UNKNOWN', message: 'disk full', words: /disk full|500/ },
  ];
  for (const { status, code, message, words } of refusals) {
    test(`a registry that answers ${status} is quoted`, async () => {
      const { repository, image } = fresh(KILOBYTE);
      const name = registry.serve(repository, '1', image, { manifestFails: { status, code, message } });
      await assert.rejects(pull(name), (error: unknown) => {
        assert.ok(error instanceof Error);
        assert.match(error.message, words);
        assert.match(error.message, /^Error response from daemon: /);
        assert.doesNotMatch(error.message, /HTTP code/);
        return true;
      });
    });
  }

  test('a registry that is not there is named', async () => {
    const { repository, image } = fresh(KILOBYTE);
    const name = registry.serve(repository, '1', image);
    await registry.close();
    await assert.rejects(pull(name), /connection refused/);
    registry = await ScriptedRegistry.start();
  });

  test('a closed repository opens to the right credentials and tells wrong ones apart, without repeating them', async () => {
    const { repository, image } = fresh(KILOBYTE);
    const name = registry.serve(repository, '1', image, { credentials: { username: 'ann', password: 'open-sesame' } });
    await assert.rejects(pull(name), /no basic auth credentials/);
    await assert.rejects(pull(name, { username: 'ann', password: 'guess-again' }), (error: unknown) => {
      assert.ok(error instanceof Error);
      assert.match(error.message, /unauthorized/);
      assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`, /guess-again|YW5uOmd1ZXNz/);
      return true;
    });
    assert.equal(await pull(name, { username: 'ann', password: 'open-sesame' }), image.config.digest);
    assert.ok(registry.requests.some((r) => r.username === 'ann'));
  });

  test('an abort stops the download in the engine: the registry sees the connection close', async () => {
    const { repository, image } = fresh(8 * MEGABYTE);
    const name = registry.serve(repository, '1', image, { trickle: { bytes: 64 * KILOBYTE, everyMs: 20 } });
    const cut = registry.isCut(repository);
    const deletion = new AbortController();
    const reason = new Error('the pod is being deleted');
    const deleteMidway = ({ bytesDone }: PullProgress): void => {
      if (bytesDone > 0) deletion.abort(reason);
    };
    await assert.rejects(service.pullImage(name, undefined, deleteMidway, deletion.signal), reason);
    await cut;
    assert.equal(await service.inspectImage(name, never), undefined);
  });

  test('a registry that never answers is given up at the progress deadline', async () => {
    const { repository, image } = fresh(KILOBYTE);
    const name = registry.serve(repository, '1', image, { manifestHangs: true });
    await assert.rejects(
      open({ imagePullProgressDeadlineMs: 500 }).pullImage(name, undefined, () => {}, never),
      /because of no progress for 500ms, latest progress: "No progress"$/,
    );
  });

  test('a registry that falls silent in a layer is given up at the progress deadline, and the download ends', async () => {
    const { repository, image } = fresh(4 * MEGABYTE);
    const name = registry.serve(repository, '1', image, { hangsMidLayer: true });
    const cut = registry.isCut(repository);
    // The time runs on once the download has begun, however long a busy engine takes for that.
    const clock = new FakeClock();
    const isDownloading = ({ bytesDone }: PullProgress): void => {
      if (bytesDone > 0) void clock.advance(1500);
    };
    await assert.rejects(
      dockerImages(engine, clock, { imagePullProgressDeadlineMs: 1500 }).pullImage(name, undefined, isDownloading, never),
      (error: unknown) => {
        assert.ok(error instanceof Error);
        assert.match(
          error.message,
          /^Cancel pulling image ".*" because of no progress for 1\.5s, latest progress: ".*Downloading \d+\/\d+"$/,
        );
        assert.ok(error.message.includes(name));
        return true;
      },
    );
    registry.resume();
    await cut;
    assert.equal(await service.inspectImage(name, never), undefined);
  });

  test('a slow registry that keeps sending is not given up', async () => {
    const { repository, image } = fresh(4 * MEGABYTE);
    const name = registry.serve(repository, '1', image, { trickle: { bytes: 640 * KILOBYTE, everyMs: 300 } });
    service = open({ imagePullProgressDeadlineMs: 1500 });
    assert.equal(await pull(name), image.config.digest);
  });
});
