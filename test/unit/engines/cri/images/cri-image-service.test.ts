import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { firstValueFrom } from 'rxjs';
import { filter } from 'rxjs/operators';
import { systemClock } from '../../../../../src/base/clock.ts';
import { ImageService, RuntimeService } from '../../../../../src/engines/cri/api/runtime_pb.js';
import { type CriClient, openCriClient } from '../../../../../src/engines/cri/client/cri-client.ts';
import { CriImageService } from '../../../../../src/engines/cri/images/cri-image-service.ts';
import { pullImage } from '../../../../../src/engines/cri/images/pull-image.ts';
import { CriServer } from '../../../../fakes/cri-server.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';

const { method } = ImageService;
const never = new AbortController().signal;
const ID = `sha256:${'a'.repeat(64)}`;
const DIGEST = `docker.io/library/busybox@sha256:${'b'.repeat(64)}`;
const busybox = { id: ID, repoTags: ['docker.io/library/busybox:1.35'], repoDigests: [DIGEST], size: 2_000_000n };

let cri: CriServer;
let client: CriClient;
beforeEach(async () => {
  cri = await CriServer.listen();
  client = aClient(30_000);
});
afterEach(async () => {
  client.close();
  await cri[Symbol.asyncDispose]();
});

function aClient(requestTimeoutMs: number, imageEndpoint = ''): CriClient {
  const tell = { engineCalled: () => {} };
  return openCriClient({ endpoint: cri.endpoint, imageEndpoint, clock: systemClock, random: () => 0, requestTimeoutMs, tell });
}

const images = (over: Partial<ConstructorParameters<typeof CriImageService>[0]> = {}): CriImageService =>
  new CriImageService({
    client,
    clock: systemClock,
    podInfraContainerImage: 'registry.k8s.io/pause:3.10',
    lastFeatures: () => ({ sandboxImage: 'example.org/pause:1', unwatchedPullsIn: undefined }),
    imagePullProgressDeadlineMs: 60_000,
    ...over,
  });

const pull = (service: CriImageService, credentials?: { username: string; password: string }, signal = never): Promise<string> =>
  service.pullImage('docker.io/library/busybox:1.35', credentials, () => {}, signal);

describe('an image', () => {
  test('is found by the name that is asked for, with the names and the id that the runtime has for it', async () => {
    cri.answer(method.imageStatus, ({ image }) => (image?.image === 'busybox:1.35' ? { image: busybox } : {}));
    assert.deepEqual(await images().inspectImage('busybox:1.35', never), {
      id: ID,
      repoTags: ['docker.io/library/busybox:1.35'],
      repoDigests: [DIGEST],
      sizeBytes: 2_000_000,
      user: '',
    });
    assert.equal(await images().inspectImage('absent:1', never), undefined);
  });

  for (const [user, over] of [
    ['0', { uid: { value: 0n } }],
    ['1000', { uid: { value: 1000n }, username: '' }],
    ['nobody', { username: 'nobody' }],
  ] as const)
    test(`runs as user ${user} where its configuration says so`, async () => {
      cri.answer(method.imageStatus, () => ({ image: { ...busybox, ...over } }));
      assert.equal((await images().inspectImage(ID, never))?.user, user);
    });

  test('without id or size is refused, as by a kubelet', async () => {
    for (const over of [{ id: '' }, { size: 0n }]) {
      cri.answer(method.imageStatus, () => ({ image: { ...busybox, ...over } }));
      await assert.rejects(images().inspectImage('x:1', never), { message: 'Id or size of image "x:1" is not set' });
    }
  });

  test('is asked for where the images are, if that is another server', async () => {
    await using other = await CriServer.listen();
    other.answer(method.imageStatus, () => ({ image: busybox }));
    const both = aClient(30_000, other.endpoint);
    assert.equal((await images({ client: both }).inspectImage('busybox:1.35', never))?.id, ID);
    both.close();
    assert.deepEqual(cri.asked, []);
  });

  test('cannot be exported: what to do is said', async () => {
    await assert.rejects(images().exportImage('x', '/tmp', 1, never), /image x cannot be a volume: .* containerd does from 2\.1 on/);
  });
});

describe('a listing', () => {
  test('has all images; the runtime and the options say which are kept', async () => {
    const pause = { id: `sha256:${'c'.repeat(64)}`, repoTags: ['registry.k8s.io/pause:3.10'], size: 1n };
    const configured = { id: `sha256:${'f'.repeat(64)}`, repoTags: ['example.org/pause:1'], size: 1n };
    const kept = { id: `sha256:${'d'.repeat(64)}`, pinned: true, size: 1n };
    const nameless = { id: `sha256:${'e'.repeat(64)}`, repoTags: ['<none>:<none>'], repoDigests: ['<none>@<none>'], size: 1n };
    cri.answer(method.listImages, () => ({ images: [busybox, pause, configured, kept, nameless, { size: 5n }] }));
    const listed = await images().listImages(never);
    assert.deepEqual(
      listed.map(({ id, repoTags, pinned }) => [id.slice(7, 8), repoTags, pinned]),
      [
        ['a', busybox.repoTags, false],
        ['c', pause.repoTags, true],
        ['f', configured.repoTags, true],
        ['d', [], true],
        ['e', [], false],
      ],
    );
  });

  test('of ten times what a message may have is refused before it has come, and the next call works', async () => {
    const bytes = Buffer.alloc(5);
    bytes.writeUInt32BE(160 << 20, 1);
    cri.on(method.listImages, (call) => call.sendBytes(bytes));
    await assert.rejects(images().listImages(never), {
      message:
        'ListImages: rpc error: code = ResourceExhausted desc = the server sent a message of 167772160 bytes, more than the 16777216 allowed',
    });
    cri.answer(method.listImages, () => ({ images: [busybox] }));
    assert.equal((await images().listImages(never)).length, 1);
  });

  test('of what is none is refused', async () => {
    cri.on(method.listImages, (call) => {
      call.sendBytes(Buffer.from([0, 0, 0, 0, 3, 0xff, 0xff, 0xff]));
      call.end();
    });
    await assert.rejects(
      images().listImages(never),
      /ListImages: .* code = Internal desc = the server answered with what is no runtime\.v1/,
    );
    cri.on(method.listImages, (call) => call.sendBytes(Buffer.from('HTTP/1.1 400 Bad Request')));
    await assert.rejects(images().listImages(never), /code = Internal desc = the server sent what is no message of gRPC/);
  });

  test('that never comes ends with its deadline', async () => {
    cri.on(method.listImages, () => {});
    const impatient = aClient(100);
    await assert.rejects(
      images({ client: impatient }).listImages(never),
      /ListImages: .*DeadlineExceeded desc = .*no answer within 0\.1 s/,
    );
    impatient.close();
  });
});

describe('a removal', () => {
  const used = (over: object): void => void cri.answer(RuntimeService.method.listContainers, () => ({ containers: [over] }));

  test('is refused where a container was made from the image, whatever field says so', async () => {
    for (const field of [{ imageRef: ID }, { imageId: ID, imageRef: DIGEST }]) {
      used({ id: 'c1', metadata: { name: 'web' }, ...field });
      await assert.rejects(images().removeImage(ID, never), { message: `image ${ID} is used by container web (c1)` });
      assert.ok((await images().imagesInUse(never)).has(ID));
    }
    assert.equal(
      cri.asked.some((call) => call.method === 'RemoveImage'),
      false,
    );
  });

  test('takes the image by its id; one that has gone is no error, other trouble is', async () => {
    used({ id: 'c1', imageRef: 'another' });
    const removed: string[] = [];
    cri.answer(method.removeImage, ({ image }) => {
      removed.push(image?.image ?? '');
      return {};
    });
    await images().removeImage(ID, never);
    assert.deepEqual(removed, [ID]);
    cri.on(method.removeImage, (call) => call.end('NotFound', 'gone'));
    await images().removeImage(ID, never);
    cri.on(method.removeImage, (call) => call.end('Unknown', 'disk on fire'));
    await assert.rejects(images().removeImage(ID, never), /disk on fire/);
  });
});

describe('a pull', () => {
  test('resolves with the id of the image, and sends credentials without a host', async () => {
    cri.answer(method.pullImage, () => ({ imageRef: DIGEST }));
    cri.answer(method.imageStatus, () => ({ image: busybox }));
    assert.equal(await pull(images(), { username: 'ann', password: 'open-sesame' }), ID);
    assert.equal(await pull(images()), ID);
    const asked = cri.asked.filter((call) => call.method === 'PullImage').map(({ input }) => input as { auth?: object });
    assert.deepEqual(
      asked.map(({ auth }) => auth && { ...auth, $typeName: undefined }),
      [
        {
          $typeName: undefined,
          username: 'ann',
          password: 'open-sesame',
          auth: '',
          serverAddress: '',
          identityToken: '',
          registryToken: '',
        },
        undefined,
      ],
    );
  });

  test('of an image that is known by another name afterwards is found by what the runtime called it', async () => {
    cri.answer(method.pullImage, () => ({ imageRef: DIGEST }));
    cri.answer(method.imageStatus, ({ image }) => (image?.image === DIGEST ? { image: busybox } : {}));
    assert.equal(await pull(images()), ID);
    cri.answer(method.imageStatus, () => ({}));
    await assert.rejects(pull(images()), { message: 'unable to inspect image docker.io/library/busybox:1.35' });
  });

  for (const [code, message] of [
    ['NotFound', 'rpc error: code = NotFound desc = failed to pull and unpack image "x": not found'],
    // So that status shows which trouble it is: a kubelet reads how it begins.
    ['Unknown', 'failed to pull and unpack image "x": not found'],
  ] as const)
    test(`that fails with ${code} says what a kubelet says`, async () => {
      cri.on(method.pullImage, (call) => call.end(code, 'failed to pull and unpack image "x": not found'));
      await assert.rejects(pull(images()), { message });
    });

  test('in which the runtime dies fails, and the next one works', async () => {
    cri.on(method.pullImage, (call) => call.hangUp());
    await assert.rejects(pull(images()), /^Error: rpc error: code = Unavailable/);
    cri.answer(method.pullImage, () => ({ imageRef: ID }));
    cri.answer(method.imageStatus, () => ({ image: busybox }));
    assert.equal(await pull(images()), ID);
  });

  test('that is aborted rejects with the reason, and the runtime hears of it', async () => {
    const stop = new AbortController();
    const cancelled = new Promise<void>((resolve) => {
      cri.on(method.pullImage, (call) => {
        void call.cancelled.then(resolve);
        stop.abort(new Error('the pod was deleted'));
      });
    });
    await assert.rejects(pull(images(), undefined, stop.signal), { message: 'the pod was deleted' });
    await cancelled;
  });

  test('lasts as long as the runtime answers anything, and is given up when it does not', async () => {
    const clock = new FakeClock();
    const begun = firstValueFrom(cri.calls.pipe(filter((name) => name === 'PullImage')));
    const cancelled = new Promise<void>((resolve) => cri.on(method.pullImage, (call) => void call.cancelled.then(resolve)));
    let ended = false;
    const pulling = pull(images({ clock })).finally(() => (ended = true));
    pulling.catch(() => {});
    await begun;
    // Ten times the deadline, with an image that is not there yet, or a refusal, each time.
    for (let look = 0; look < 40; look++) {
      cri.on(method.imageStatus, (call) => (look % 2 === 0 ? call.end('Internal', 'half an image') : (call.send({}), call.end())));
      const asked = firstValueFrom(cri.calls.pipe(filter((name) => name === 'ImageStatus')));
      await clock.advance(15_000);
      await asked;
      await settled();
    }
    assert.equal(ended, false);
    cri.on(method.imageStatus, () => {});
    await clock.advance(60_000);
    await assert.rejects(pulling, {
      message:
        'Cancel pulling image "docker.io/library/busybox:1.35" because of no progress for 1m0s: the container runtime answers nothing, look at its log',
    });
    await cancelled;
  });

  test('is given up where the runtime answers, and does nothing in the files that it would write', async () => {
    const clock = new FakeClock();
    const begun = firstValueFrom(cri.calls.pipe(filter((name) => name === 'PullImage')));
    cri.on(method.pullImage, () => {}).answer(method.imageStatus, () => ({}));
    // As the pull begins, in the first quarter of the deadline, and never after that.
    const looks = [true, true];
    const activity = { look: async () => looks.shift() ?? false };
    const pulling = pullImage({ client, clock, progressDeadlineMs: 60_000, activity }, 'busybox:1', undefined, never);
    pulling.catch(() => {});
    await begun;
    for (let look = 0; look < 4; look++) {
      const asked = firstValueFrom(cri.calls.pipe(filter((name) => name === 'ImageStatus')));
      await clock.advance(15_000);
      await asked;
      await settled();
    }
    await clock.advance(15_000);
    await assert.rejects(pulling, {
      message:
        'Cancel pulling image "busybox:1" because of no progress for 1m0s: the container runtime downloads and unpacks nothing, the registry may hang',
    });
  });
});

/** The answer of a question that has been answered has reached who asked: one call that came after it has been answered, too. */
async function settled(): Promise<void> {
  cri.answer(method.imageFsInfo, () => ({}));
  await client.call(method.imageFsInfo, {}, never);
}
