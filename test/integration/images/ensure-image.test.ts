import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { Backoff } from '../../../src/base/backoff.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { testEndpoint } from '../../builders/docker-under-test.ts';
import type { EngineClient } from '../../../src/engines/docker/client/engine-client.ts';
import { imageManager } from '../../../src/images/image-manager.ts';
import { keyring, type PullSecret } from '../../../src/images/keyring.ts';
import { NodeDockerConfig } from '../../../src/images/node-docker-config.ts';
import { PullQueue } from '../../../src/images/pull-queue.ts';
import { ImageVerification } from '../../../src/images/verification/image-verification.ts';
import { ContainerStartError } from '../../../src/model/container-start-error.ts';
import type { ImagePuller } from '../../../src/ports/image-puller.ts';
import { anImage } from '../../builders/an-image.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { DebianRegistry } from '../../fakes/debian-registry.ts';
import { anEngineClient, dockerImages } from '../../builders/docker-parts.ts';
import { notTraced } from '../../../src/ports/tracing.ts';

const never = new AbortController().signal;
const { username, password } = DebianRegistry.credentials;

describe('ensureImage with a Docker engine and a real registry', { timeout: 120_000 }, () => {
  let engine: EngineClient;
  let open: DebianRegistry;
  let closed: DebianRegistry;
  let rootDir: string;
  let secrets: readonly PullSecret[] = [];
  let events: string[] = [];
  let notes: string[] = [];
  let puller: ImagePuller;
  const pulled: string[] = [];

  const dockerConfig = (host: string): string =>
    JSON.stringify({ auths: { [host]: { auth: Buffer.from(`${username}:${password}`).toString('base64') } } });
  const push = async (registry: DebianRegistry): Promise<{ name: string; id: string }> => {
    const image = anImage([randomBytes(100_000), randomBytes(1000)]);
    const name = await registry.push(`test/${randomUUID().slice(0, 8)}`, '1', image);
    return { name, id: image.config.digest };
  };
  const ensure = async (image: string, imagePullPolicy = 'IfNotPresent'): Promise<string> => {
    const id = await puller.ensureImage(aPod('p'), aContainer('c', { image, imagePullPolicy }), never);
    if (!pulled.includes(image)) pulled.push(image);
    return id;
  };

  before(async () => {
    engine = anEngineClient(testEndpoint, systemClock);
    open = await DebianRegistry.start();
    closed = await DebianRegistry.start({ closed: true });
  });
  after(async () => {
    await open.stop();
    await closed.stop();
    engine.close();
  });
  beforeEach(async () => {
    rootDir = await mkdtemp(join(tmpdir(), 'images-'));
    secrets = [];
    events = [];
    notes = [];
    const images = dockerImages(engine, systemClock);
    puller = imageManager({
      images,
      events: { record: (_about, type, reason, message) => events.push(`${type} ${reason} ${message}`) },
      clock: systemClock,
      log: silentLogger,
      keyring: keyring(new NodeDockerConfig({ rootDir, cwd: rootDir, home: rootDir }, silentLogger)),
      tell: { noted: ({ message }) => notes.push(message), imagePulling: () => {}, imagePulled: () => {}, imageEnsured: () => {} },
      tracing: notTraced,
      pulls: new PullQueue({ images, limiter: undefined, maxParallelPulls: () => undefined }),
      backoff: new Backoff({ clock: systemClock, baseMs: 10_000, maxMs: 300_000 }),
      verification: new ImageVerification({
        rootDir,
        policy: { policy: 'NeverVerifyPreloadedImages', allowlist: [] },
        images,
        clock: systemClock,
        log: silentLogger,
        tell: { imageChecked: () => {} },
      }),
      pullSecrets: async () => secrets,
    });
  });
  afterEach(async () => {
    for (const image of pulled.splice(0)) await engine.call(`DELETE ${image}`, 60_000, never, (docker) => docker.getImage(image).remove());
    await rm(rootDir, { recursive: true });
  });

  test('an image that is not there is pulled, and used as it is the next time', async () => {
    const { name, id } = await push(open);
    assert.equal(await ensure(name), id);
    assert.equal(await ensure(name), id);
    assert.equal(events.length, 3);
    assert.equal(events[0], `Normal Pulling Pulling image "${name}"`);
    assert.match(
      events[1] ?? '',
      /^Normal Pulled Successfully pulled image ".*" in [\d.]+m?s \([\d.]+m?s including waiting\)\. Image size: [1-9]\d* bytes\.$/,
    );
    assert.equal(events[2], `Normal Pulled Container image "${name}" already present on machine and can be accessed by the pod`);
    assert.match(notes.at(-1) ?? '', /^pulled .* in [\d.]+m?s$/);
  });

  test('a closed registry opens to a pull secret', async () => {
    const { name, id } = await push(closed);
    const data = { '.dockerconfigjson': Buffer.from(dockerConfig(closed.host)).toString('base64') };
    secrets = [{ type: 'kubernetes.io/dockerconfigjson', data }];
    assert.equal(await ensure(name), id);
    // By its id, and without the secret, it is not there for others.
    await assert.rejects(ensure(id, 'Never'), { reason: 'ErrImageNeverPull' });
    secrets = [];
    await assert.rejects(ensure(name, 'Never'), { reason: 'ErrImageNeverPull' });
  });

  test("a closed registry opens to the node's config.json as soon as that is there", async () => {
    const { name, id } = await push(closed);
    await assert.rejects(ensure(name), (error: unknown) => {
      assert.ok(error instanceof ContainerStartError);
      assert.equal(error.reason, 'ErrImagePull');
      assert.match(error.message, /no basic auth credentials/);
      return true;
    });
    await writeFile(join(rootDir, 'config.json'), dockerConfig(closed.host));
    // Another pod: the first one backs off.
    const other = await puller.ensureImage(aPod('other'), aContainer('c', { image: name }), never);
    pulled.push(name);
    assert.equal(other, id);
  });

  test('wrong credentials come first, the right ones are tried after them', async () => {
    const { name, id } = await push(closed);
    const wrong = JSON.stringify({ auths: { [closed.host]: { username, password: 'guess-again' } } });
    secrets = [{ type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': Buffer.from(wrong).toString('base64') } }];
    await writeFile(join(rootDir, 'config.json'), dockerConfig(closed.host));
    assert.equal(await ensure(name), id);
  });

  test('an unknown image is an ErrImagePull in the words of the registry, then a back-off that remembers them', async () => {
    const name = `${open.host}/test/absent:1`;
    await assert.rejects(ensure(name), { reason: 'ErrImagePull', message: /manifest unknown/ });
    await assert.rejects(ensure(name), (error: unknown) => {
      assert.ok(error instanceof ContainerStartError && error.cause instanceof Error);
      assert.equal(error.reason, 'ImagePullBackOff');
      assert.ok(error.message.startsWith(`Back-off pulling image "${name}": ErrImagePull: `), error.message);
      assert.match(error.cause.message, /^attempt 1 failed: .*manifest unknown.*; next try at \d{4}-/);
      return true;
    });
  });
});
