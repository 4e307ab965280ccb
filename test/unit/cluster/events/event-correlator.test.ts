import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventCorrelator, type CorrelatedEvent } from '../../../../src/cluster/events/event-correlator.ts';
import { eventNamer } from '../../../../src/model/event-name.ts';
import type { KubeEvent } from '../../../../src/model/kube-event.ts';
import { formatTime } from '../../../../src/model/time.ts';

class Correlating {
  nowMs = 0;
  dateAheadMs = 0;
  readonly #name = eventNamer({ now: () => this.nowMs + this.dateAheadMs });
  readonly #correlator = new EventCorrelator(this.#name);

  correlate(over: Partial<KubeEvent> = {}): CorrelatedEvent {
    const now = formatTime(this.nowMs + this.dateAheadMs);
    const involvedObject = { kind: 'Pod', apiVersion: 'v1', namespace: 'default', name: 'web', uid: 'uid-web' };
    const event: KubeEvent = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: this.#name('web'), namespace: 'default' },
      involvedObject,
      type: 'Normal',
      reason: 'Pulled',
      message: 'm',
      source: { component: 'kubelet', host: 'lab' },
      reportingComponent: 'kubelet',
      reportingInstance: 'lab',
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      ...over,
    };
    return this.#correlator.correlate(event, { dateMs: this.nowMs + this.dateAheadMs, monotonicMs: this.nowMs });
  }

  forget(uid: string): void {
    this.#correlator.forget(uid);
  }
}

test('a repeat changes count, time and message of the event told first', () => {
  const events = new Correlating();
  const first = events.correlate();
  assert.equal(first.send, 'create');
  events.nowMs = 5000;
  const repeat = events.correlate();
  assert.equal(repeat.send, 'patch');
  assert.deepEqual(repeat.patch, { count: 2, lastTimestamp: '1970-01-01T00:00:05Z', message: 'm' });
  assert.deepEqual(repeat.event, { ...first.event, count: 2, lastTimestamp: '1970-01-01T00:00:05Z' });
});

test('from the tenth message on, one event tells of new ones; the first eight and the latest, said again, are told in events of their own', () => {
  const events = new Correlating();
  const names = new Set<string>();
  for (let i = 0; i < 9; i++) {
    const told = events.correlate({ message: `m ${i}` });
    assert.equal(told.send, 'create');
    names.add(told.event.metadata.name);
  }
  const combined = events.correlate({ message: 'm 9' });
  assert.equal(combined.send, 'create');
  assert.equal(combined.event.message, '(combined from similar events): m 9');
  assert.equal(names.has(combined.event.metadata.name), false);
  for (const message of ['m 10', 'm 9']) {
    const next = events.correlate({ message });
    assert.equal(next.send, 'patch');
    assert.equal(next.event.metadata.name, combined.event.metadata.name);
    assert.equal(next.patch.message, `(combined from similar events): ${message}`);
  }
  const again = events.correlate({ message: 'm 9' });
  assert.equal(again.send === 'create' && again.event.message, 'm 9');
  const old = events.correlate({ message: 'm 3' });
  assert.deepEqual([old.send, old.send === 'patch' && old.patch.message], ['patch', 'm 3']);
});

test('after 25 events about one object, one passes each 300 s and tells of all in between', () => {
  const events = new Correlating();
  for (let i = 0; i < 25; i++) assert.notEqual(events.correlate().send, 'nothing');
  for (events.nowMs = 1000; events.nowMs < 300_000; events.nowMs += 1000)
    assert.equal(events.correlate().send, 'nothing', `${events.nowMs}`);
  const told = events.correlate();
  assert.equal(told.send === 'patch' && told.patch.count, 325);
  assert.equal(events.correlate().send, 'nothing');
});

test('one object does not use up what another may tell', () => {
  const events = new Correlating();
  for (let i = 0; i < 26; i++) events.correlate();
  assert.equal(events.correlate().send, 'nothing');
  assert.equal(events.correlate({ involvedObject: { kind: 'Node', name: 'lab', uid: 'lab' } }).send, 'create');
});

test('a date that is set forward or back neither fills the spam filter nor blocks it', () => {
  const events = new Correlating();
  for (let i = 0; i < 26; i++) events.correlate();
  for (const hours of [1, -1]) {
    events.dateAheadMs = hours * 3_600_000;
    assert.equal(events.correlate().send, 'nothing');
  }
  events.nowMs = 300_000;
  assert.equal(events.correlate().send, 'patch');
});

test('what was told of an object that is gone is forgotten, and nothing else', () => {
  const events = new Correlating();
  const other = { involvedObject: { kind: 'Pod', apiVersion: 'v1', namespace: 'default', name: 'web', uid: 'uid-web-2' } };
  for (let i = 0; i < 30; i++) {
    events.correlate();
    events.correlate(other);
  }
  assert.equal(events.correlate().send, 'nothing');
  events.forget('uid-web');
  assert.equal(events.correlate().send, 'create');
  assert.equal(events.correlate(other).send, 'nothing');
});
