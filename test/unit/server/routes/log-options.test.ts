import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpError } from '../../../../src/ports/route.ts';
import { logOptions } from '../../../../src/server/routes/log-options.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const nothing = { follow: false, timestamps: false };

test('a query says what is wanted of a log, as v1.PodLogOptions', () => {
  const cases: readonly (readonly [string, object])[] = [
    ['', nothing],
    ['follow=true&timestamps=1', { follow: true, timestamps: true }],
    // Anything but a no is a yes.
    ['follow=&timestamps=maybe', { follow: true, timestamps: true }],
    ['follow=FALSE&timestamps=0', nothing],
    ['tailLines=5', { ...nothing, tailLines: 5 }],
    ['tailLines=%2B0', { ...nothing, tailLines: 0 }],
    ['tail=7&tailLines=5', { ...nothing, tailLines: 7 }],
    ['tail=all&tailLines=5', nothing],
    ['limitBytes=1', { ...nothing, limitBytes: 1 }],
    ['sinceSeconds=60', { ...nothing, sinceMs: NOW - 60_000 }],
    ['sinceSeconds=9223372036854775807', { ...nothing, sinceMs: 0 }],
    ['sinceTime=2026-01-02T03:04:05Z', { ...nothing, sinceMs: NOW }],
    ['sinceTime=2026-01-02T05:04:05.123456789%2B02:00', { ...nothing, sinceMs: NOW + 123 }],
    ['sinceTime=', nothing],
    ['sinceTime=null', nothing],
    ['stream=All', nothing],
    ['stream=Stderr', { ...nothing, stream: 'Stderr' }],
    ['insecureSkipTLSVerifyBackend=true&container=x', nothing],
  ];
  for (const [query, options] of cases) {
    assert.deepEqual(logOptions(new URLSearchParams(query), NOW, true), { previous: false, options }, query);
  }
  assert.equal(logOptions(new URLSearchParams('previous=true'), NOW, true).previous, true);
});

test('what cannot be read is a 400, what makes no sense a 422', () => {
  const cases: readonly (readonly [number, readonly string[]])[] = [
    [
      400,
      [
        'tailLines=x',
        'tail=some',
        'tailLines=1.5',
        'tailLines=',
        'limitBytes=9223372036854775808',
        'sinceSeconds=1s',
        'sinceTime=yesterday',
      ],
    ],
    [400, ['sinceTime=2026-01-02', 'sinceTime=2026-13-02T03:04:05Z', 'tailLines=1_000', `tailLines=${'9'.repeat(100_000)}`]],
    [422, ['tailLines=-1', 'limitBytes=0', 'limitBytes=-5', 'sinceSeconds=0', 'sinceSeconds=-1', 'stream=Stdin', 'stream=stdout']],
    [422, ['sinceSeconds=1&sinceTime=2026-01-02T03:04:05Z', 'stream=Stdout&tailLines=1']],
  ];
  const texts: Readonly<Record<number, string>> = { 400: '{"message": "Unable to decode query."}', 422: '{"message": "Invalid request."}' };
  for (const [status, queries] of cases) {
    for (const query of queries) {
      assert.throws(
        () => logOptions(new URLSearchParams(query), NOW, true),
        (error) => error instanceof HttpError && error.status === status && error.message === texts[status],
        query.slice(0, 80),
      );
    }
  }
});

test('without the gate PodLogsQuerySplitStreams a stream may not be named at all', () => {
  for (const query of ['stream=Stdout', 'stream=All', 'stream=', 'follow=true&stream=Stderr'])
    assert.throws(
      () => logOptions(new URLSearchParams(query), NOW, false),
      (error) => error instanceof HttpError && error.status === 422,
      query,
    );
  assert.deepEqual(logOptions(new URLSearchParams('follow=true'), NOW, false).options, { ...nothing, follow: true });
});
