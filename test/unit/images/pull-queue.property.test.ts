import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type PullListener, PullQueue } from '../../../src/images/pull-queue.ts';

const deaf: PullListener = { onQueued: () => {}, onProgress: () => {} };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Running {
  readonly image: string;
  readonly end: () => void;
}

test('whatever is asked, aborted and ended in any order: the cap holds, an image is pulled once at a time, and everybody gets an answer', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('ask' as const), image: fc.constantFrom('a', 'b', 'c', 'd') }),
    fc.record({ do: fc.constant('abort' as const), which: fc.nat(20) }),
    fc.record({ do: fc.constant('end' as const), which: fc.nat(5) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 40 }), async (cap, steps) => {
      const running = new Set<Running>();
      const queue = new PullQueue({
        limiter: undefined,
        maxParallelPulls: () => cap,
        images: {
          pullImage: (image, _credentials, _onProgress, signal) =>
            new Promise((resolve, reject) => {
              assert.ok(running.size < cap, 'over the cap');
              assert.ok(![...running].some((r) => r.image === image && !signal.aborted), `${image} is pulled twice`);
              const pull: Running = {
                image,
                end: () => {
                  running.delete(pull);
                  resolve(`id-of-${image}`);
                },
              };
              running.add(pull);
              signal.addEventListener('abort', () => {
                running.delete(pull);
                reject(signal.reason);
              });
            }),
        },
      });
      const asks: { readonly abort: AbortController; readonly answer: Promise<string> }[] = [];
      for (const one of steps) {
        if (one.do === 'ask') {
          const abort = new AbortController();
          const expected = `id-of-${one.image}`;
          const answer = queue.pull(one.image, [], deaf, abort.signal).then(
            ({ id }) => (assert.equal(id, expected), 'pulled'),
            (error: unknown) => (assert.equal(error, abort.signal.reason), 'aborted'),
          );
          asks.push({ abort, answer });
        } else if (one.do === 'abort') asks[one.which]?.abort.abort(new Error('gone'));
        else [...running][one.which]?.end();
        await settled();
      }
      for (let round = 0; running.size > 0; round++) {
        assert.ok(round < 100, 'pulls without end');
        for (const pull of running) pull.end();
        await settled();
      }
      const answers = await Promise.all(asks.map((a) => a.answer));
      for (const [i, answer] of answers.entries()) if (!asks[i]?.abort.signal.aborted) assert.equal(answer, 'pulled');
    }),
    { numRuns: 150 },
  );
});
