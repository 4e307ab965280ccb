import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { Backoff } from '../../../src/base/backoff.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { imageManager } from '../../../src/images/image-manager.ts';
import { keyring, type Keyring } from '../../../src/images/keyring.ts';
import { PullQueue } from '../../../src/images/pull-queue.ts';
import { ContainerStartError } from '../../../src/model/container-start-error.ts';
import type { ImagePulled } from '../../../src/ports/happenings.ts';
import type { ImagePuller } from '../../../src/ports/image-puller.ts';
import type { ImageInfo, ImageService, PullProgress, RegistryCredentials } from '../../../src/ports/image-service.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { notTraced } from '../../../src/ports/tracing.ts';

const never = new AbortController().signal;

interface Note {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

/** An engine whose pulls do what `onPull` says. Knows images by name and by id. */
class FakeImages implements Pick<ImageService, 'inspectImage' | 'pullImage'> {
  readonly present = new Set<string>();
  readonly used: (RegistryCredentials | undefined)[] = [];
  onPull: (onProgress: (progress: PullProgress) => void, signal: AbortSignal) => Promise<void> = async () => {};

  async inspectImage(nameOrId: string): Promise<ImageInfo | undefined> {
    const image = nameOrId.replace(/^id-of-/, '');
    const name = image.replace(/^id-of-/, '');
    return this.present.has(name) ? { id: `id-of-${name}`, repoTags: [name], repoDigests: [], sizeBytes: 1, user: '' } : undefined;
  }

  async pullImage(
    image: string,
    credentials: RegistryCredentials | undefined,
    onProgress: (progress: PullProgress) => void,
    signal: AbortSignal,
  ): Promise<string> {
    this.used.push(credentials);
    await this.onPull(onProgress, signal);
    this.present.add(image);
    return `id-of-${image}`;
  }
}

const failure = async (attempt: Promise<string>): Promise<ContainerStartError> => {
  try {
    await attempt;
  } catch (error) {
    assert.ok(error instanceof ContainerStartError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: 'the image is there' });
};

describe('imageManager', () => {
  let clock: FakeClock;
  let images: FakeImages;
  let events: string[];
  let notes: Note[];
  let pulledImages: ImagePulled[];
  /** "POLICY PRESENT REQUIRED" */
  let ensured: string[];
  let puller: ImagePuller;
  let pulls: PullQueue;
  let secretText: string;
  let credentials: Keyring;
  let secretsAsked: number;
  let mayUse: boolean;
  let calls: string[];
  let beginning: () => Promise<void>;

  beforeEach(() => {
    clock = new FakeClock();
    images = new FakeImages();
    events = [];
    notes = [];
    pulledImages = [];
    ensured = [];
    secretText = '';
    secretsAsked = 0;
    mayUse = true;
    calls = [];
    beginning = async () => {};
    credentials = keyring({ entries: async () => [] });
    pulls = new PullQueue({ images, limiter: undefined, maxParallelPulls: () => 1 });
    puller = imageManager({
      images,
      events: { record: (_about, type, reason, message, container) => events.push(`${container}: ${type} ${reason} ${message}`) },
      clock,
      log: silentLogger,
      keyring: { lookup: (...asked) => credentials.lookup(...asked) },
      tell: {
        noted: ({ message, fields }) => notes.push({ message, fields }),
        imagePulling: () => {},
        imagePulled: (pulled) => pulledImages.push(pulled),
        imageEnsured: ({ policy, isPresent, isPullRequired }) => ensured.push(`${policy} ${isPresent} ${isPullRequired}`),
      },
      tracing: notTraced,
      pulls,
      backoff: new Backoff({ clock, baseMs: 10_000, maxMs: 300_000 }),
      verification: {
        mayUse: async (name, { id }, asking) => {
          calls.push(`may use ${name} ${id}`);
          await asking();
          return mayUse;
        },
        begins: (name, before) => (calls.push(`begins ${name} ${before}`), beginning()),
        succeeded: async (name, id, used) => void calls.push(`succeeded ${name} ${id} ${used?.username}`),
        failed: async (name) => void calls.push(`failed ${name}`),
        stopped: async (name) => void calls.push(`stopped ${name}`),
      },
      pullSecrets: async () => (
        secretsAsked++,
        [{ type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': Buffer.from(secretText).toString('base64') } }]
      ),
    });
  });
  const ensure = (image: string, { pod = 'p', signal = never, policy = 'IfNotPresent' } = {}): Promise<string> =>
    puller.ensureImage(aPod(pod), aContainer('c', { image, imagePullPolicy: policy }), signal);

  test('an image that is there is told of when the one who asked says so, in the words of ensureImage', async () => {
    await ensure('img:1');
    events.length = 0;
    const present = await puller.presentImage(aPod('p'), aContainer('c', { image: 'img:1', imagePullPolicy: 'IfNotPresent' }), never);
    assert.deepEqual(events, []);
    assert.equal(present?.ref, await ensure('img:1'));
    present?.tell();
    assert.equal(events.length, 2);
    assert.equal(events[0], events[1]);
  });

  test('each image that is asked for is told of with what was found, and whether it had to be pulled', async () => {
    const told = async (attempt: Promise<string>): Promise<string | undefined> => {
      await attempt.catch(() => {});
      return ensured.splice(0).join();
    };
    const asked = (image: string, policy: 'Always' | 'IfNotPresent' | 'Never'): Promise<string> =>
      puller.ensureImage(aPod('p'), aContainer('c', { image, imagePullPolicy: policy }), never);
    assert.equal(await told(asked('img:1', 'Never')), 'Never false undefined');
    assert.equal(await told(asked('img:1', 'IfNotPresent')), 'IfNotPresent false true');
    assert.equal(await told(asked('img:1', 'IfNotPresent')), 'IfNotPresent true false');
    assert.equal(await told(asked('img:1', 'Never')), 'Never true false');
    assert.equal(await told(asked('img:1', 'Always')), 'Always undefined true');
    mayUse = false;
    assert.equal(await told(asked('img:1', 'Never')), 'Never true true');
    assert.equal(await told(asked('no such name', 'IfNotPresent')), 'IfNotPresent undefined undefined');
    mayUse = true;
    const present = await puller.presentImage(aPod('p'), aContainer('c', { image: 'img:1', imagePullPolicy: 'IfNotPresent' }), never);
    assert.deepEqual(ensured, []);
    present?.tell();
    assert.deepEqual(ensured, ['IfNotPresent true false']);
  });

  test('a pull tells its size and how long it took, an image that is there or cannot be pulled tells nothing', async () => {
    images.onPull = async () => clock.advance(1500);
    await ensure('img:1');
    await ensure('img:1');
    images.onPull = async () => {
      throw new Error('manifest unknown');
    };
    await failure(ensure('img:2'));
    assert.deepEqual(pulledImages, [{ uid: aPod('p').metadata.uid, sizeBytes: 1, tookMs: 1500 }]);
  });

  for (const [what, image, imagePullPolicy] of [
    ['that is missing', 'img:2', 'IfNotPresent'],
    ['that is missing and must not be pulled', 'img:2', 'Never'],
    ['whose registry is to be asked each time', 'img:1', 'Always'],
  ] as const)
    test(`an image ${what} is not called present, and nothing is told or pulled`, async () => {
      await ensure('img:1');
      events.length = 0;
      assert.equal(await puller.presentImage(aPod('p'), aContainer('c', { image, imagePullPolicy }), never), undefined);
      assert.deepEqual(events, []);
      assert.equal(images.used.length, 1);
    });

  test('a back-off says as much as a kubelet to status, and to its cause why, which attempt and until when', async () => {
    images.onPull = async () => {
      throw new Error('manifest unknown');
    };
    await failure(ensure('img:1'));
    await clock.advance(10_000);
    const second = await failure(ensure('img:1'));
    assert.equal(second.reason, 'ErrImagePull');
    assert.equal(second.retryAtMs, 30_000);
    await clock.advance(1000);
    const backOff = await failure(ensure('img:1'));
    assert.equal(backOff.reason, 'ImagePullBackOff');
    assert.equal(backOff.message, 'Back-off pulling image "img:1": ErrImagePull: manifest unknown');
    assert.equal(backOff.retryAtMs, 30_000);
    assert.ok(backOff.cause instanceof Error);
    assert.equal(backOff.cause.message, 'attempt 2 failed: manifest unknown; next try at 1970-01-01T00:00:30Z');
    assert.deepEqual(notes.at(-1), {
      message: 'back-off pulling img:1: attempt 2 failed: manifest unknown; next try at 1970-01-01T00:00:30Z',
      fields: { image: 'img:1', attempt: 2, retryAtMs: 30_000 },
    });
  });

  test('attempts are counted anew after a success, while the delay goes on growing', async () => {
    let works = false;
    images.onPull = async () => {
      if (!works) throw new Error('404');
    };
    await failure(ensure('img:1', { policy: 'Always' }));
    await clock.advance(10_000);
    works = true;
    await ensure('img:1', { policy: 'Always' });
    works = false;
    const again = await failure(ensure('img:1', { policy: 'Always' }));
    assert.equal(again.retryAtMs, 30_000);
    assert.match(notes.at(-1)?.message ?? '', /attempt 1 failed/);
  });

  test('back-off belongs to one pod and one image', async () => {
    images.onPull = async () => {
      throw new Error('404');
    };
    await failure(ensure('img:1'));
    assert.equal((await failure(ensure('img:1', { pod: 'other' }))).reason, 'ErrImagePull');
    assert.equal((await failure(ensure('img:2'))).reason, 'ErrImagePull');
    assert.equal((await failure(ensure('img:1'))).reason, 'ImagePullBackOff');
  });

  test('credentials that are slow to come hold up no pod that is deleted', async () => {
    credentials = { lookup: () => new Promise(() => {}) };
    const deletion = new AbortController();
    const pull = ensure('img:1', { signal: deletion.signal });
    await clock.advance(0);
    deletion.abort(new Error('pod deleted'));
    await assert.rejects(pull, /pod deleted/);
    assert.ok(!events.some((event) => event.includes('Failed')), events.join('\n'));
  });

  test('an aborted pull is no failure: no event of one, no back-off', async () => {
    images.onPull = (_onProgress, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
    const deletion = new AbortController();
    const pulling = ensure('img:1', { signal: deletion.signal });
    await clock.advance(0);
    deletion.abort(new Error('pod deleted'));
    await assert.rejects(pulling, { message: 'pod deleted' });
    assert.deepEqual(events, ['c: Normal Pulling Pulling image "img:1"']);
    images.onPull = async () => {};
    assert.equal(await ensure('img:1'), 'id-of-img:1');
  });

  test('a cached image waits for no pull, even where pulls go one at a time', async () => {
    let finish = (): void => {};
    images.onPull = () => new Promise((resolve) => (finish = resolve));
    const slow = ensure('slow:1');
    await clock.advance(0);
    images.present.add('cached:1');
    assert.equal(await ensure('cached:1'), 'id-of-cached:1');
    const queued = ensure('next:1');
    await clock.advance(0);
    assert.equal(notes.at(-1)?.message, 'pulling next:1: waiting for 1 other pull');
    finish();
    await slow;
    await clock.advance(0);
    finish();
    await queued;
  });

  test('progress is noted once a second, with the time left', async () => {
    images.onPull = async (onProgress) => {
      for (let second = 0; second < 3; second += 0.25) {
        onProgress({ layersDone: 1, layers: 5, bytesDone: second * 5e6, bytes: 45e6 });
        await clock.sleep(250);
      }
    };
    const pulling = ensure('busybox:1.35');
    await clock.advance(3000);
    await pulling;
    assert.deepEqual(
      notes.map((n) => n.message),
      [
        'pulling busybox:1.35: 1 of 5 layers, 5 of 45 MB, about 8 s left',
        'pulling busybox:1.35: 1 of 5 layers, 10 of 45 MB, about 7 s left',
        'pulled busybox:1.35 in 3s',
      ],
    );
    assert.deepEqual(notes[0]?.fields, { image: 'busybox:1.35', layersDone: 1, layers: 5, bytesDone: 5e6, bytes: 45e6, msLeft: 8000 });
    assert.equal(
      events.at(-1),
      'c: Normal Pulled Successfully pulled image "busybox:1.35" in 3s (3s including waiting). Image size: 1 bytes.',
    );
  });

  test("the pod's pull secrets are what the registry hears", async () => {
    secretText = JSON.stringify({ auths: { 'quay.io': { username: 'ann', password: 'secret' } } });
    await ensure('quay.io/team/app:1');
    await ensure('gcr.io/team/app:1');
    assert.deepEqual(images.used, [{ username: 'ann', password: 'secret' }, undefined]);
  });

  test('a pull secret that does not parse fails the pull without showing what is in it', async () => {
    secretText = '{"auths": {"quay.io": {"auth": "c2VjcmV0"}}}';
    const error = await failure(ensure('quay.io/team/app:1'));
    assert.equal(error.reason, 'ErrImagePull');
    assert.equal(error.message, 'unable to parse auth field, must be formatted as base64(username:password)');
    assert.doesNotMatch(JSON.stringify([events, notes]), /secret|c2VjcmV0/);
    assert.deepEqual(images.used, []);
  });

  describe('whose credentials are to be verified', () => {
    beforeEach(async () => {
      secretText = JSON.stringify({ auths: { 'a.example': { username: 'ann', password: 'secret' } } });
      await ensure('a.example/app:1');
      mayUse = false;
      calls.length = events.length = secretsAsked = 0;
    });

    test('a present image is pulled again, with credentials that are asked for once', async () => {
      assert.equal(await ensure('a.example/app:1'), 'id-of-a.example/app:1');
      assert.deepEqual(calls, [
        'may use a.example/app:1 id-of-a.example/app:1',
        'begins a.example/app:1 id-of-a.example/app:1',
        'succeeded a.example/app:1 id-of-a.example/app:1 ann',
      ]);
      assert.equal(secretsAsked, 1);
      assert.equal(images.used.length, 2);
    });

    test('an image that must not be pulled is as if it was not there', async () => {
      const error = await failure(ensure('a.example/app:1', { policy: 'Never' }));
      assert.equal(error.reason, 'ErrImageNeverPull');
      const message = 'Container image "a.example/app:1" is not present with pull policy of Never';
      assert.equal(error.message, message);
      assert.deepEqual(events, [`c: Warning ErrImageNeverPull ${message}`]);
      assert.equal(images.used.length, 1);
    });

    test('an image is not called present, and nothing is said', async () => {
      const container = aContainer('c', { image: 'a.example/app:1', imagePullPolicy: 'IfNotPresent' });
      assert.equal(await puller.presentImage(aPod('p'), container, never), undefined);
      assert.deepEqual(events, []);
    });

    test('a pull that fails, or that nobody waits for any more, is recorded as such', async () => {
      images.onPull = async () => {
        throw new Error('denied');
      };
      await failure(ensure('a.example/app:1'));
      images.onPull = () => new Promise(() => {});
      const abort = new AbortController();
      const stopped = assert.rejects(ensure('a.example/app:1', { pod: 'q', signal: abort.signal }), { message: 'gone' });
      await clock.advance(0);
      abort.abort(new Error('gone'));
      await stopped;
      assert.deepEqual(
        calls.filter((call) => !call.startsWith('may use')),
        [
          'begins a.example/app:1 id-of-a.example/app:1',
          'failed a.example/app:1',
          'begins a.example/app:1 id-of-a.example/app:1',
          'stopped a.example/app:1',
        ],
      );
    });

    test('a pull that nobody waits for any more before its turn has come has brought nothing', async () => {
      images.onPull = () => new Promise(() => {});
      const [first, second] = [new AbortController(), new AbortController()];
      const pulls = [ensure('a.example/one:1', { signal: first.signal }), ensure('a.example/two:1', { signal: second.signal })];
      await clock.advance(0);
      for (const abort of [second, first]) abort.abort(new Error('gone'));
      for (const pull of pulls) await assert.rejects(pull, { message: 'gone' });
      assert.deepEqual(calls.slice(2).toSorted(), ['failed a.example/two:1', 'stopped a.example/one:1']);
    });

    test('no pull begins where that cannot be recorded: it fails with why, and backs off', async () => {
      beginning = async () => {
        throw new Error('no space left on device');
      };
      const error = await failure(ensure('a.example/app:1'));
      assert.equal(error.reason, 'ErrImagePull');
      assert.equal(error.message, 'Failed to record image pull intent for container image "a.example/app:1": no space left on device');
      assert.equal((await failure(ensure('a.example/app:1'))).reason, 'ImagePullBackOff');
      assert.equal(images.used.length, 1);
    });
  });

  test('what the back-off forgets is forgotten: a failure long ago is attempt 1 again', async () => {
    images.onPull = async () => {
      throw new Error('404');
    };
    await failure(ensure('img:1'));
    await clock.advance(600_001);
    const error = await failure(ensure('img:1'));
    assert.equal(error.retryAtMs, 610_001);
    assert.match(notes.at(-1)?.message ?? '', /attempt 1 failed/);
  });
});
