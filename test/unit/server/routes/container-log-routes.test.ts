import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterEach, test } from 'node:test';
import type { Clock } from '../../../../src/base/clock.ts';
import type { PodStatus } from '../../../../src/model/pod.ts';
import type { ContainerAccess, LogOptions, LogPiece } from '../../../../src/ports/container-access.ts';
import { containerLogRoutes } from '../../../../src/server/routes/container-log-routes.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { servedPods } from '../../../builders/served-pods.ts';
import { serveRoutes, type ServedRoutes } from '../../../fakes/served-routes.ts';

let served: ServedRoutes | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

const running: PodStatus = {
  containerStatuses: [
    { name: 'app', image: '', imageID: '', ready: true, restartCount: 0, containerID: 'docker://id-app', state: { running: {} } },
  ],
};
const piece = (text: string): LogPiece => ({ stream: 'stdout', bytes: Buffer.from(text) });
/** Silence is over at once: what is followed is answered before anything is said. */
const clock: Pick<Clock, 'now' | 'sleep'> = { now: () => 1_000_000, sleep: async () => {} };

async function serve(logs: ContainerAccess['logs'], status: PodStatus = running): Promise<string> {
  const pod = aPod('web', { containers: [aContainer('app'), aContainer('other')] });
  served = await serveRoutes(
    containerLogRoutes({
      served: servedPods([pod], { statuses: { [pod.metadata.uid]: status }, access: { logs } }),
      clock,
      splitStreams: false,
    }),
  );
  return `${served.url}/containerLogs/default`;
}

async function* pieces(...texts: readonly string[]): AsyncGenerator<LogPiece> {
  for (const text of texts) yield piece(text);
}

test('what the container wrote is the body, in order', async () => {
  const asked: [string, LogOptions][] = [];
  const url = await serve((id, options) => {
    asked.push([id, options]);
    return pieces('one\n', 'two\n');
  });
  const answer = await fetch(`${url}/web/app?tailLines=2&timestamps=true`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('transfer-encoding'), 'chunked');
  assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.equal(await answer.text(), 'one\ntwo\n');
  assert.deepEqual(asked, [['id-app', { follow: false, timestamps: true, tailLines: 2 }]]);
});

test('what is not there is refused in the words of the kubelet', async () => {
  const url = await serve(() => pieces(), { containerStatuses: [] });
  const cases: readonly (readonly [string, number, string])[] = [
    ['/nobody/app', 404, 'pod "nobody" does not exist'],
    ['/web/nothing', 404, 'container "nothing" not found in pod "web"'],
    ['/web/app', 400, 'container "app" in pod "web" is not available'],
    ['/web/app?tailLines=-1', 422, '{"message": "Invalid request."}'],
    ['/nobody/app?tailLines=x', 400, '{"message": "Unable to decode query."}'],
  ];
  for (const [path, status, text] of cases) {
    const answer = await fetch(url + path);
    assert.deepEqual([answer.status, await answer.text()], [status, text], path);
  }
});

test('a log that cannot be read is a 400 that says why', async () => {
  const url = await serve(async function* () {
    yield* pieces();
    throw new Error('the file is gone');
  });
  const answer = await fetch(`${url}/web/app`);
  assert.deepEqual([answer.status, await answer.text()], [400, 'the file is gone']);
});

test('a log that breaks off later breaks the answer off, rather than seeming whole', async () => {
  const url = await serve(async function* () {
    yield piece('one\n');
    throw new Error('the disk is gone');
  });
  const answer = await fetch(`${url}/web/app`);
  assert.equal(answer.status, 200);
  await assert.rejects(answer.text());
});

test('who follows a silent log is answered, and reading ends when they go', async () => {
  const ended = Promise.withResolvers<void>();
  const url = await serve(async function* (_id, _options, signal) {
    yield* pieces();
    await once(signal, 'abort').catch(() => undefined);
    ended.resolve();
  });
  const request = get(`${url}/web/app?follow=true`);
  const [answer]: IncomingMessage[] = (await once(request, 'response')) as IncomingMessage[];
  assert.equal(answer?.statusCode, 200);
  request.destroy();
  await ended.promise;
});

test('nobody reads: no more is read of the log than fits into buffers', async () => {
  let given = 0;
  const gone = Promise.withResolvers<void>();
  const url = await serve(async function* () {
    try {
      for (; given < 1000; given++) yield piece('x'.repeat(1 << 20));
    } finally {
      gone.resolve();
    }
  });
  const request = get(`${url}/web/app`);
  const [answer] = (await once(request, 'response')) as IncomingMessage[];
  answer?.pause();
  // As long as something moves, look again.
  for (let before = -1; before !== given;) {
    before = given;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert(given < 64, `${given} MiB were read for nobody`);
  request.destroy();
  await gone.promise;
});

test('one stream of it is for the local socket alone without the gate PodLogsQuerySplitStreams', async () => {
  const url = await serve(() => pieces('x'));
  assert.equal((await fetch(`${url}/web/app?stream=Stdout`)).status, 422);
});
