import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linePath, roundTop } from '../../../page/plots/line-path.ts';
import { podLanes } from '../../../page/timeline/pod-lanes.ts';
import { timeTicks } from '../../../page/timeline/time-axis.ts';
import type { StreamEntry } from '../../../src/model/stream-entry.ts';

let seq = 0;
const entry = (atMs: number, stream: string, message: string, fields: Record<string, unknown>): StreamEntry => ({
  seq: ++seq,
  atMs,
  stream,
  level: 4,
  message,
  pod: 'default/web',
  uid: 'u' as NonNullable<StreamEntry['uid']>,
  fields,
});
const event = (atMs: number, container: string, reason: string, type = 'Normal'): StreamEntry =>
  entry(atMs, 'events', 'event', { container, type, reason, message: `${reason} of ${container}` });
const look = (atMs: number, totalMs: number, because: readonly string[], actions: readonly object[] = []): StreamEntry =>
  entry(atMs, 'reconcile', 'reconciled', { woken: [], because, actions, totalMs });
const containers = [
  { name: 'prep', kind: 'init' },
  { name: 'app', kind: 'app' },
] as const;
const spansOf = (entries: readonly StreamEntry[], isOver = false) =>
  podLanes(entries, containers, isOver).map(({ name, spans, marks }) => [
    name,
    spans.map(({ kind, fromMs, toMs }) => [kind, fromMs, toMs]),
    marks.map(({ kind, atMs }) => [kind, atMs]),
  ]);

test('a start is sandbox, pulls, init and run, one after the other', () => {
  const entries = [
    event(100, 'prep', 'Pulling'),
    event(200, 'prep', 'Pulled'),
    event(300, 'prep', 'Started'),
    look(
      310,
      310,
      [],
      [
        { do: 'admit', tookMs: 10 },
        { do: 'runSandbox', tookMs: 60 },
        { do: 'startContainer', name: 'prep', tookMs: 230 },
      ],
    ),
    event(900, 'app', 'Pulling'),
    event(1_000, 'app', 'Pulled'),
    event(1_100, 'app', 'Started'),
    entry(1_200, 'probes', 'probe', { container: 'app', probe: 'readiness', outcome: 'failure', message: 'no' }),
    entry(1_300, 'probes', 'probe', { container: 'app', probe: 'readiness', outcome: 'success', message: '' }),
  ];
  assert.deepEqual(spansOf(entries), [
    ['sandbox', [['sandbox', 20, 80]], []],
    [
      'prep',
      [
        ['pull', 100, 200],
        ['init', 300, 900],
      ],
      [],
    ],
    [
      'app',
      [
        ['pull', 900, 1_000],
        ['run', 1_100, undefined],
      ],
      [
        ['probe-sick', 1_200],
        ['probe-well', 1_300],
      ],
    ],
  ]);
});

test('a crash ends a run, also where the look that found it has begun the next one', () => {
  const exited = 'container app exited with code 1 (Error): restart policy Always';
  const entries = [
    event(0, 'app', 'Started'),
    event(5_100, 'app', 'Started'),
    look(5_110, 110, [exited], [{ do: 'startContainer', name: 'app', tookMs: 100 }]),
    event(9_000, 'app', 'BackOff', 'Warning'),
    look(9_020, 10, ['container app waits: back-off 10s restarting failed container']),
    event(19_000, 'app', 'Started'),
    look(19_010, 100, [exited]),
  ];
  assert.deepEqual(spansOf(entries), [
    [
      'app',
      [
        ['run', 0, 5_000],
        ['run', 5_100, 9_000],
        ['wait', 9_000, 19_000],
        ['run', 19_000, undefined],
      ],
      [
        ['exit', 5_000],
        ['exit', 9_000],
      ],
    ],
  ]);
});

test('what failed is marked, and of a pod that is over nothing goes on', () => {
  const entries = [event(0, 'app', 'Pulling'), event(50, 'app', 'Failed', 'Warning'), event(90, '', 'FailedMount', 'Warning')];
  assert.deepEqual(spansOf(entries), [
    ['sandbox', [], [['warning', 90]]],
    ['app', [['pull', 0, 50]], [['warning', 50]]],
  ]);
  assert.deepEqual(spansOf([event(0, 'app', 'Started'), look(70, 1, [])], true), [['app', [['run', 0, 70]], []]]);
});

test('entries that are not as expected are passed over', () => {
  const odd = [
    entry(1, 'events', 'event', {}),
    entry(2, 'reconcile', 'reconciled', { actions: 'x', because: 3 }),
    entry(3, 'probes', 'probe', {}),
  ];
  assert.deepEqual(podLanes(odd, [], false), []);
});

test('times on the axis are round by the reader’s clock, and not too many', () => {
  const at = Date.UTC(2026, 0, 1, 12, 0, 7);
  assert.deepEqual(
    timeTicks(at, at + 60_000, 5, 0).map(({ text }) => text),
    ['12:00:15', '12:00:30', '12:00:45', '12:01:00'],
  );
  assert.deepEqual(
    timeTicks(at, at + 7_200_000, 3, 5.5 * 3_600_000).map(({ text }) => text),
    ['18:00', '19:00'],
  );
  assert.equal(timeTicks(0, 10 * 365 * 86_400_000, 4, 0).length, 2);
});

test('a line breaks off where nothing is known, and its axis has a round top', () => {
  assert.equal(
    linePath(
      [1, null, 2, 3],
      (index) => index * 10,
      (value) => value,
    ),
    'M0.0 1.0M20.0 2.0L30.0 3.0',
  );
  assert.deepEqual([roundTop([3, null], 1), roundTop([], 10), roundTop([0.03], 0.01), roundTop([61], 10)], [5, 10, 0.05, 100]);
});
