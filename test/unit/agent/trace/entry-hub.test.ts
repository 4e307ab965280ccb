import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EntryHub } from '../../../../src/agent/trace/entry-hub.ts';
import { heardLogger } from '../../../../src/base/heard-logger.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import type { StreamEntry } from '../../../../src/model/stream-entry.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

test('log lines become entries under their stream, up to level 4 and whatever is printed, with pod and uid in places of their own', () => {
  const clock = new FakeClock();
  const hub = new EntryHub(clock, { lastSeq: 41 });
  const heard: StreamEntry[] = [];
  hub.all.subscribe((entry) => heard.push(entry));
  const log = heardLogger(silentLogger, (line) => hub.hear(line));
  log
    .stream('lease')
    .child({ node: 'n1' })
    .warn('node lease failed, retrying', { error: new Error('refused') });
  log.stream('probes').v(4, 'probed', { pod: 'default/web', uid: 'u1', result: 'success' });
  log.stream('probes').v(5, 'not heard');
  log.info('starting');
  const atMs = clock.now();
  assert.deepEqual(structuredClone(heard), [
    {
      seq: 42,
      atMs,
      stream: 'lease',
      level: 'warning',
      message: 'node lease failed, retrying',
      fields: { node: 'n1', error: 'refused' },
    },
    { seq: 43, atMs, stream: 'probes', level: 4, message: 'probed', pod: 'default/web', uid: 'u1', fields: { result: 'success' } },
    { seq: 44, atMs, stream: 'agent', level: 'info', message: 'starting', fields: {} },
  ]);
  assert.deepEqual(hub.tail(), heard);
});

test('an entry is plain JSON without secrets', () => {
  const hub = new EntryHub(new FakeClock());
  hub.hear({
    stream: 'images',
    level: 'info',
    message: 'pulling',
    fields: { password: 'hunter2', url: 'https://ann:hunter2@quay.io', n: 1n },
  });
  assert.deepEqual(JSON.parse(JSON.stringify(hub.tail()[0]?.fields)), {
    password: '[redacted]',
    url: 'https://ann:[redacted]@quay.io',
    n: '1',
  });
});

test('the last entries are kept, and no more than their bound', () => {
  const hub = new EntryHub(new FakeClock(), { most: 3 });
  const kept = (): readonly number[] => hub.tail().map(({ seq }) => seq);
  const hear = (): void => hub.hear({ stream: '', level: 'info', message: 'm', fields: {} });
  hear();
  hear();
  assert.deepEqual(kept(), [1, 2]);
  for (let n = 0; n < 5; n++) hear();
  assert.deepEqual(kept(), [5, 6, 7]);
});

test('where none are to be kept, entries are heard and none is kept', () => {
  const hub = new EntryHub(new FakeClock(), { most: 0 });
  const heard: number[] = [];
  hub.all.subscribe(({ seq }) => heard.push(seq));
  for (let n = 0; n < 2; n++) hub.hear({ stream: '', level: 'info', message: 'm', fields: {} });
  assert.deepEqual([heard, hub.tail()], [[1, 2], []]);
});
