import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GrpcCode } from '../../../../../src/base/grpc/grpc-status.ts';
import { GrpcError } from '../../../../../src/base/grpc/grpc-error.ts';
import { createdOnce } from '../../../../../src/engines/cri/client/created-once.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../../fakes/recording-logger.ts';
import { rpcError } from '../../../../fakes/scripted-cri.ts';

interface Holder {
  readonly id: string;
  readonly fits: boolean;
}

const TAKEN = 'name "app_web" is reserved for "c1"';

/** `holders`: what is found at each look; `failures`: how the creates end, the last of them well. */
async function create(failures: readonly Error[], holders: readonly (Holder | undefined)[], signal = new AbortController().signal) {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  let creates = 0;
  let looks = 0;
  const removed: string[] = [];
  const result = createdOnce<Holder>(
    {
      create: async () => {
        const failure = failures[creates++];
        if (failure) throw failure;
        return `new ${creates}`;
      },
      holder: async () => holders[looks++],
      fits: async ({ fits }) => fits,
      remove: async ({ id }) => void removed.push(id),
    },
    { clock, log, what: 'container' },
    signal,
  );
  result.catch(() => {});
  const settled = await clock.until(Promise.allSettled([result]));
  return { settled: settled[0], creates, looks, removed, waitedMs: clock.monotonicMs(), said: log.lines.map(({ message }) => message) };
}
const failed = (code: GrpcCode, words = TAKEN): GrpcError => rpcError('CreateContainer', code, words);
const resolved = ({ settled }: Awaited<ReturnType<typeof create>>): string =>
  settled.status === 'fulfilled' ? settled.value : `failed: ${String(settled.reason)}`;

test('what is created at once is looked for nowhere', async () => {
  const done = await create([], []);
  assert.deepEqual([resolved(done), done.looks, done.said], ['new 1', 0, []]);
});

for (const code of ['Unknown', 'FailedPrecondition', 'DeadlineExceeded'] as const)
  test(`what is there after ${code} is adopted where it fits, else replaced`, async () => {
    const adopted = await create([failed(code)], [{ id: 'c1', fits: true }]);
    assert.deepEqual([resolved(adopted), adopted.removed], ['c1', []]);
    assert.deepEqual(adopted.said, ['container that had the name of a new one adopted']);
    const replaced = await create([failed(code)], [{ id: 'c1', fits: false }]);
    assert.deepEqual([resolved(replaced), replaced.removed, replaced.creates], ['new 2', ['c1'], 2]);
    assert.deepEqual(replaced.said, ['container that had the name of a new one replaced']);
  });

test('a name that is held for nothing is waited for, and not for ever', async () => {
  const late = await create([failed('Unknown'), failed('Unknown')], []);
  assert.equal(resolved(late), 'new 3');
  assert.ok(late.waitedMs >= 500 && late.waitedMs < 600, String(late.waitedMs));
  const never = await create(
    Array.from({ length: 9 }, () => failed('Unknown')),
    [],
  );
  assert.match(resolved(never), /is reserved for/);
  assert.equal(never.creates, 4);
});

test('leftovers that come again and again are not removed for ever', async () => {
  const done = await create(
    Array.from({ length: 9 }, () => failed('Unknown')),
    Array.from({ length: 9 }, (_, n) => ({ id: `c${n}`, fits: false })),
  );
  assert.match(resolved(done), /is reserved for/);
  assert.deepEqual([done.creates, done.removed.length], [4, 3]);
});

test('any other failure is told as it is, at once', async () => {
  const done = await create([failed('Unknown', 'no such image')], []);
  assert.match(resolved(done), /no such image/);
  assert.equal(done.creates, 1);
});

test('a runtime that is not there is not asked again', async () => {
  const error = new GrpcError('CreateContainer', { code: 'Unavailable', details: 'connect ENOENT' }, { connected: false });
  const done = await create([error], [{ id: 'c1', fits: true }]);
  assert.match(resolved(done), /connect ENOENT/);
  assert.equal(done.looks, 0);
});

test('an abort ends it with its reason', async () => {
  const reason = new Error('the pod was deleted');
  const done = await create([reason], [], AbortSignal.abort(reason));
  assert.match(resolved(done), /the pod was deleted/);
});
