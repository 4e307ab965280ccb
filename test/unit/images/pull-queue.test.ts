import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { TokenBucket } from '../../../src/base/token-bucket.ts';
import { type PullListener, PullQueue } from '../../../src/images/pull-queue.ts';
import { RegistryUnavailableError } from '../../../src/model/registry-unavailable-error.ts';
import type { ImageService, PullProgress, RegistryCredentials } from '../../../src/ports/image-service.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const ANN: RegistryCredentials = { username: 'ann', password: 'a' };
const BOB: RegistryCredentials = { username: 'bob', password: 'b' };
const PROGRESS: PullProgress = { layersDone: 1, layers: 2, bytesDone: 3, bytes: 4 };
const never = new AbortController().signal;
const deaf: PullListener = { onQueued: () => {}, onProgress: () => {} };

interface Begun {
  readonly image: string;
  readonly credentials: RegistryCredentials | undefined;
  readonly onProgress: (progress: PullProgress) => void;
  readonly signal: AbortSignal;
  readonly succeed: (id: string) => void;
  readonly fail: (error: Error) => void;
}

/** Pulls that end when the test says so; an abort ends them at once. */
class ControlledPulls implements Pick<ImageService, 'pullImage'> {
  readonly begun: Begun[] = [];

  pullImage(
    image: string,
    credentials: RegistryCredentials | undefined,
    onProgress: (progress: PullProgress) => void,
    signal: AbortSignal,
  ): Promise<string> {
    return new Promise((succeed, fail) => {
      this.begun.push({ image, credentials, onProgress, signal, succeed, fail });
      signal.addEventListener('abort', () => fail(signal.reason), { once: true });
    });
  }

  get images(): readonly string[] {
    return this.begun.map((b) => b.image);
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const idBy = async (queue: PullQueue, ...asked: Parameters<PullQueue['pull']>): Promise<string> => (await queue.pull(...asked)).id;

describe('PullQueue', () => {
  let engine: ControlledPulls;
  beforeEach(() => {
    engine = new ControlledPulls();
  });
  const queueOf = (maxParallelPulls?: number): PullQueue =>
    new PullQueue({ images: engine, limiter: undefined, maxParallelPulls: () => maxParallelPulls });

  for (const { max, atOnce } of [
    { max: 1, atOnce: ['a'] },
    { max: 2, atOnce: ['a', 'b'] },
    { max: undefined, atOnce: ['a', 'b', 'c'] },
  ]) {
    test(`with a cap of ${max ?? 'none'}, ${atOnce.length} of three pulls run at once and the rest follow in order`, async () => {
      const queue = queueOf(max);
      const results = ['a', 'b', 'c'].map((image) => idBy(queue, image, [], deaf, never));
      await settled();
      assert.deepEqual(engine.images, atOnce);
      for (let i = 0; i < 3; i++) {
        engine.begun[i]?.succeed(`id-${i}`);
        await settled();
      }
      assert.deepEqual(engine.images, ['a', 'b', 'c']);
      assert.deepEqual(await Promise.all(results), ['id-0', 'id-1', 'id-2']);
    });
  }

  test('a cap that is lifted lets those start that wait, and one that is lowered lets those end that run', async () => {
    let cap: number | undefined = 1;
    const queue = new PullQueue({ images: engine, limiter: undefined, maxParallelPulls: () => cap });
    const results = ['a', 'b', 'c', 'd'].map((image) => idBy(queue, image, [], deaf, never));
    cap = 3;
    queue.startWaiting();
    await settled();
    assert.deepEqual(engine.images, ['a', 'b', 'c']);
    cap = 1;
    queue.startWaiting();
    for (const at of [0, 1]) {
      engine.begun[at]?.succeed(`id-${at}`);
      await settled();
      assert.deepEqual(engine.images, ['a', 'b', 'c']);
    }
    engine.begun[2]?.succeed('id-2');
    await settled();
    engine.begun[3]?.succeed('id-3');
    assert.deepEqual(await Promise.all(results), ['id-0', 'id-1', 'id-2', 'id-3']);
  });

  test('a failed pull makes room for the next one', async () => {
    const queue = queueOf(1);
    const first = idBy(queue, 'a', [], deaf, never);
    const second = idBy(queue, 'b', [], deaf, never);
    engine.begun[0]?.fail(new Error('404'));
    await assert.rejects(first, /404/);
    await settled();
    engine.begun[1]?.succeed('id-b');
    assert.equal(await second, 'id-b');
  });

  test('whoever waits hears how many are ahead', async () => {
    const queue = queueOf(1);
    const ahead: number[] = [];
    const listener: PullListener = { ...deaf, onQueued: (n) => ahead.push(n) };
    const abort = new AbortController();
    const pulls = ['a', 'b', 'c'].map((image) => idBy(queue, image, [], listener, abort.signal));
    assert.deepEqual(ahead, [1, 2]);
    abort.abort(new Error('over'));
    await Promise.all(pulls.map((p) => assert.rejects(p, /over/)));
  });

  test('the same image with the same credentials is pulled once, and both hear of it', async () => {
    const queue = queueOf();
    const heard: string[] = [];
    const one = idBy(queue, 'a', [ANN], { ...deaf, onProgress: () => heard.push('one') }, never);
    const two = idBy(queue, 'a', [{ ...ANN }], { ...deaf, onProgress: () => heard.push('two') }, never);
    await settled();
    assert.deepEqual(engine.images, ['a']);
    engine.begun[0]?.onProgress(PROGRESS);
    assert.deepEqual(heard, ['one', 'two']);
    engine.begun[0]?.succeed('id');
    assert.deepEqual(await Promise.all([one, two]), ['id', 'id']);
  });

  test('other credentials make another pull', async () => {
    const queue = queueOf();
    const pulls = [idBy(queue, 'a', [ANN], deaf, never), idBy(queue, 'a', [BOB], deaf, never), idBy(queue, 'a', [], deaf, never)];
    await settled();
    assert.deepEqual(
      engine.begun.map((b) => b.credentials?.username),
      ['ann', 'bob', undefined],
    );
    for (const begun of engine.begun) begun.succeed('id');
    await Promise.all(pulls);
  });

  test('a pull that has ended is not shared any more', async () => {
    const queue = queueOf();
    const first = idBy(queue, 'a', [], deaf, never);
    engine.begun[0]?.succeed('old');
    assert.equal(await first, 'old');
    const second = idBy(queue, 'a', [], deaf, never);
    engine.begun[1]?.succeed('new');
    assert.equal(await second, 'new');
  });

  test('an abort of one does not stop the pull for the others, the last one does', async () => {
    const queue = queueOf();
    const [a, b] = [new AbortController(), new AbortController()];
    const first = idBy(queue, 'a', [], deaf, a.signal);
    const second = idBy(queue, 'a', [], deaf, b.signal);
    a.abort(new Error('first goes'));
    await assert.rejects(first, /first goes/);
    assert.equal(engine.begun[0]?.signal.aborted, false);
    b.abort(new Error('second goes'));
    await assert.rejects(second, /second goes/);
    assert.equal(engine.begun[0]?.signal.aborted, true);
  });

  test('who asks while an abandoned pull is still ending gets a pull of his own', async () => {
    const queue = queueOf();
    const abort = new AbortController();
    const first = idBy(queue, 'a', [], deaf, abort.signal);
    abort.abort(new Error('gone'));
    const second = idBy(queue, 'a', [], deaf, never);
    await assert.rejects(first, /gone/);
    await settled();
    assert.equal(engine.begun.length, 2);
    engine.begun[1]?.succeed('id');
    assert.equal(await second, 'id');
  });

  test('a pull that nobody waits for any more never starts', async () => {
    const queue = queueOf(1);
    const abort = new AbortController();
    const first = idBy(queue, 'a', [], deaf, never);
    const second = idBy(queue, 'b', [], deaf, abort.signal);
    abort.abort(new Error('gone'));
    await assert.rejects(second, /gone/);
    engine.begun[0]?.succeed('id');
    await first;
    await settled();
    assert.deepEqual(engine.images, ['a']);
  });

  test('an aborted signal asks for nothing', async () => {
    await assert.rejects(idBy(queueOf(), 'a', [], deaf, AbortSignal.abort(new Error('gone'))), /gone/);
    assert.deepEqual(engine.images, []);
  });

  test('over the limit a pull fails at once, and joining one costs nothing', async () => {
    const clock = new FakeClock();
    const limiter = new TokenBucket({ rate: () => ({ qps: 1, burst: 2 }), clock });
    const queue = new PullQueue({ images: engine, limiter, maxParallelPulls: () => undefined });
    const pulls = ['a', 'a', 'b'].map((image) => idBy(queue, image, [], deaf, never));
    await assert.rejects(idBy(queue, 'c', [], deaf, never), { message: 'pull QPS exceeded' });
    await clock.advance(1000);
    pulls.push(idBy(queue, 'c', [], deaf, never));
    await settled();
    assert.deepEqual(engine.images, ['a', 'b', 'c']);
    for (const begun of engine.begun) begun.succeed('id');
    await Promise.all(pulls);
  });

  test('credentials are tried in order until one works', async () => {
    const queue = queueOf();
    const pull = queue.pull('a', [ANN, BOB], deaf, never);
    await settled();
    engine.begun[0]?.fail(new Error('unauthorized'));
    await settled();
    assert.equal(engine.begun[1]?.credentials, BOB);
    engine.begun[1]?.succeed('id');
    assert.deepEqual(await pull, { id: 'id', usedIndex: 1 });
  });

  const failures: readonly { readonly of: readonly Error[]; readonly message: string; readonly unavailable: boolean }[] = [
    { of: [new Error('denied'), new Error('denied')], message: 'denied', unavailable: false },
    { of: [new Error('denied'), new Error('not found')], message: '[denied, not found]', unavailable: false },
    { of: [new RegistryUnavailableError('502'), new Error('denied')], message: '[502, denied]', unavailable: false },
    { of: [new RegistryUnavailableError('502'), new RegistryUnavailableError('503')], message: '[502, 503]', unavailable: true },
  ];
  for (const { of, message, unavailable } of failures) {
    test(`when no credentials work, the error reads ${message}`, async () => {
      const pull = idBy(queueOf(), 'a', [ANN, BOB], deaf, never);
      const rejected = assert.rejects(pull, (error: unknown) => {
        assert.ok(error instanceof Error);
        assert.equal(error.message, message);
        assert.equal(error instanceof RegistryUnavailableError, unavailable);
        return true;
      });
      for (const [i, error] of of.entries()) {
        await settled();
        engine.begun[i]?.fail(error);
      }
      await rejected;
    });
  }

  test('an abort between two credentials ends the pull', async () => {
    const abort = new AbortController();
    const pull = idBy(queueOf(), 'a', [ANN, BOB], deaf, abort.signal);
    await settled();
    abort.abort(new Error('gone'));
    await assert.rejects(pull, /gone/);
    await settled();
    assert.equal(engine.begun.length, 1);
  });
});
