import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { EntryHub } from '../../../src/agent/trace/entry-hub.ts';
import type { StreamEntry } from '../../../src/model/stream-entry.ts';
import { capability } from '../../../src/timeline/capability.ts';
import { MOST_READERS } from '../../../src/timeline/timeline-routes.ts';
import { nodeUnderTest, type NodeUnderTest, runServices } from '../../builders/node-parts.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { serveRoutes, type ServedRoutes } from '../../fakes/served-routes.ts';

let served: ServedRoutes | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

async function serve(): Promise<NodeUnderTest> {
  const under = nodeUnderTest({ options: { timelineMaxMib: 0 } });
  served = await serveRoutes(capability(under.node).routes ?? []);
  return under;
}
const get = (query = '', signal?: AbortSignal): Promise<Response> =>
  fetch(`${served?.url}/rxlet/v1/timeline${query}`, { signal: signal ?? null });
const entriesOf = (text: string): readonly StreamEntry[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const messages = async (query: string): Promise<readonly string[]> =>
  entriesOf(await (await get(query)).text()).map(({ message }) => message);

const about = (message: string, fields: object = {}, stream = 'reconcile') => ({ stream, level: 4, message, fields: { ...fields } });

test('the timeline is what has happened, an entry a line, oldest first', async () => {
  const { hear, clock } = await serve();
  hear(about('one', { pod: 'default/web', uid: 'u1', took: 3 }));
  const answer = await get();
  assert.equal(answer.headers.get('content-type'), 'application/x-ndjson');
  assert.deepEqual(entriesOf(await answer.text()), [
    {
      seq: 1,
      atMs: clock.now(),
      stream: 'reconcile',
      level: 4,
      message: 'one',
      pod: 'default/web',
      uid: 'u1',
      fields: { took: 3 },
    },
  ]);
});

test('a pod by its name or uid, streams, times and a number limit what is read', async () => {
  const { hear, clock } = await serve();
  hear(about('old', { pod: 'default/web', uid: 'u1' }));
  await clock.advance(600_000);
  hear(about('web', { pod: 'default/web', uid: 'u2' }));
  hear(about('db', { pod: 'default/db', uid: 'u3' }, 'probes'));
  hear(about('lease', {}, 'lease'));
  assert.deepEqual(await messages('?pod=default/web'), ['old', 'web']);
  assert.deepEqual(await messages('?pod=u1'), ['old']);
  assert.deepEqual(await messages('?stream=probes,lease'), ['db', 'lease']);
  assert.deepEqual(await messages('?since=1m'), ['web', 'db', 'lease']);
  assert.deepEqual(await messages(`?until=${new Date(clock.now() - 1).toISOString()}`), ['old']);
  assert.deepEqual(await messages('?limit=2'), ['db', 'lease']);
  assert.deepEqual(await messages('?limit=0'), []);
});

test('what cannot be meant is refused with what is expected', async () => {
  await serve();
  for (const query of ['?since=yesterday', '?until=2026-13-45T00:00:00Z', '?limit=-1', '?follow=maybe']) {
    const answer = await get(query);
    assert.deepEqual([answer.status, / is /.test(await answer.text())], [400, true], query);
  }
});

test('a follower reads what has happened and then what happens', async () => {
  const { hear } = await serve();
  hear(about('before'));
  const gone = new AbortController();
  const { body } = await get('?follow=true', gone.signal);
  assert.ok(body);
  const seen: string[] = [];
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    seen.push(...entriesOf(piece).map(({ message }) => message));
    if (seen.length === 1) hear(about('after'));
    if (seen.length === 2) break;
  }
  assert.deepEqual(seen, ['before', 'after']);
});

test('what is kept from before a restart comes first, and nothing comes twice', async () => {
  const rootDir = mkdtempSync(join(tmpdir(), 'rxlet-timeline-'));
  try {
    const before = nodeUnderTest({ options: { rootDir, timelineMaxMib: 1 } });
    const first = capability(before.node);
    const running = runServices(first.services);
    for (let n = 1; n <= 3; n++) before.hear(about(`old ${n}`));
    await running.stop();

    const entries = new EntryHub(new FakeClock(), { lastSeq: 3 });
    const under = nodeUnderTest({ options: { rootDir, timelineMaxMib: 1 }, entries });
    entries.hear(about('before it ran'));
    const { routes = [], services } = capability(under.node);
    served = await serveRoutes(routes);
    const again = runServices(services);
    entries.hear(about('new'));
    assert.deepEqual(await messages(''), ['old 1', 'old 2', 'old 3', 'before it ran', 'new']);
    entries.hear(about('newer'));
    assert.deepEqual(await messages(''), ['old 1', 'old 2', 'old 3', 'before it ran', 'new', 'newer']);
    assert.deepEqual(await messages('?limit=2'), ['new', 'newer']);
    await again.stop();
  } finally {
    rmSync(rootDir, { recursive: true });
  }
});

test('where the disk cannot be read, there is what is in memory, and that something is missing', async () => {
  const rootDir = mkdtempSync(join(tmpdir(), 'rxlet-timeline-'));
  try {
    // A link to itself: not even root can read it.
    symlinkSync('timeline', join(rootDir, 'timeline'));
    const { node, hear } = nodeUnderTest({ options: { rootDir, timelineMaxMib: 1 } });
    const { routes = [], services } = capability(node);
    served = await serveRoutes(routes);
    const running = runServices(services);
    hear(about('one'));
    hear(about('two'));
    const answer = await get();
    assert.equal(answer.status, 200);
    const [missing, ...there] = entriesOf(await answer.text());
    assert.deepEqual(
      [missing?.level, missing?.message, missing?.fields['directory']],
      ['warning', 'entries left out: the timeline on disk cannot be read', join(rootDir, 'timeline')],
    );
    assert.match(String(missing?.fields['error']), /ELOOP/);
    assert.deepEqual(
      there.map(({ message }) => message).filter((message) => /^(one|two)$/.test(message)),
      ['one', 'two'],
    );
    await running.stop();
  } finally {
    rmSync(rootDir, { recursive: true });
  }
});

test('readers who do not read are so many and no more: the next one is asked to come again, until one has gone', async () => {
  await serve();
  const readers = Array.from({ length: MOST_READERS }, () => new AbortController());
  const held = await Promise.all(readers.map(({ signal }) => get('?follow=true', signal)));
  assert.deepEqual(new Set(held.map(({ status }) => status)), new Set([200]));
  const refused = await get('?follow=true');
  assert.equal(refused.status, 429);
  assert.match(await refused.text(), /^100 readers follow or read the timeline already/);
  readers[0]?.abort();
  let status = 429;
  while (status === 429) {
    const answer = await get();
    await answer.text();
    ({ status } = answer);
  }
  assert.equal(status, 200);
  for (const reader of readers) reader.abort();
});
