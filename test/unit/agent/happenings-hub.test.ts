import assert from 'node:assert/strict';
import test from 'node:test';
import { happeningsHub } from '../../../src/agent/happenings-hub.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const key = { queue: 'pods', key: 'a' };

test('What is told reaches all who listen to its kind, in their order, before the teller goes on', () => {
  const { tell, add } = happeningsHub(new RecordingLogger());
  const heard: string[] = [];
  add({ keyReady: (what) => heard.push(`first ${what.queue}/${what.key}`), keyEnded: () => heard.push('ended') });
  add({ keyReady: (what) => heard.push(`second ${what.queue}/${what.key}`) });
  tell.keyReady(key);
  assert.deepEqual(heard, ['first pods/a', 'second pods/a']);
});

test('Everything can be told without listeners', () => {
  const { tell } = happeningsHub(new RecordingLogger());
  const kinds = Object.values(tell);
  assert.ok(kinds.length > 15);
  for (const one of kinds) assert.equal(Reflect.apply(one, undefined, [key]), undefined);
});

test('A listener hears what is told after it was added, and as a method of its own', () => {
  const { tell, add } = happeningsHub(new RecordingLogger());
  class Counter {
    count = 0;
    keyStarted(): void {
      this.count++;
    }
  }
  const counter = new Counter();
  tell.keyStarted(key);
  add(counter);
  tell.keyStarted(key);
  tell.keyStarted(key);
  assert.equal(counter.count, 2);
});

test('A listener that throws is logged once for each kind, and hurts neither teller nor other listeners', () => {
  const log = new RecordingLogger();
  const { tell, add } = happeningsHub(log);
  let heard = 0;
  const error = new Error('broken');
  const fail = (): never => {
    throw error;
  };
  add({ keyReady: fail, keyRetried: fail });
  add({ keyReady: () => heard++, keyRetried: () => heard++ });
  tell.keyReady(key);
  tell.keyReady(key);
  tell.keyRetried({ ...key, inMs: 1 });
  assert.equal(heard, 3);
  assert.deepEqual(log.lines, [
    { level: 'error', message: 'listener failed', fields: { happening: 'keyReady', error } },
    { level: 'error', message: 'listener failed', fields: { happening: 'keyRetried', error } },
  ]);
});

test('Each listener that throws is logged, also where each tells the same again, without end', () => {
  const log = new RecordingLogger();
  const { tell, add } = happeningsHub(log);
  add({
    keyReady: () => {
      throw new Error('one');
    },
  });
  add({ keyReady: (what) => tell.keyReady(what) });
  tell.keyReady(key);
  assert.deepEqual(
    log.lines.map(({ fields }) => (fields?.['error'] as Error | undefined)?.message),
    ['one', 'Maximum call stack size exceeded'],
  );
});

test('A listener that is added while something is told hears what is told next', () => {
  const { tell, add } = happeningsHub(new RecordingLogger());
  let heard = 0;
  const more = { keyReady: () => (heard++, add(more)) };
  add(more);
  tell.keyReady(key);
  assert.equal(heard, 1);
  tell.keyReady(key);
  assert.equal(heard, 3);
});
