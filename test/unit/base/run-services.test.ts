import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aborted } from '../../../src/base/aborted.ts';
import { runServices } from '../../../src/base/run-services.ts';
import type { Service } from '../../../src/base/service.ts';

const service = (name: string, log: string[], failure?: Promise<never>): Service => ({
  name,
  run: async (signal) => {
    log.push(`start ${name}`);
    await Promise.race([aborted(signal), ...(failure ? [failure] : [])]);
    log.push(`stop ${name}`);
  },
});

test('phases start left to right and stop right to left', async () => {
  const log: string[] = [];
  const stop = new AbortController();
  const done = runServices([[service('events', log)], [service('workers', log)], [service('server', log)]], stop.signal);
  stop.abort();
  await done;
  assert.deepEqual(log, ['start events', 'start workers', 'start server', 'stop server', 'stop workers', 'stop events']);
});

test('one failure takes all down in order, and names the service', async () => {
  const log: string[] = [];
  const phases = [[service('events', log)], [service('workers', log, Promise.reject(new Error('boom')))], [service('server', log)]];
  await assert.rejects(runServices(phases, new AbortController().signal), (error: Error) => {
    assert.equal(error.message, 'service workers failed');
    assert.equal((error.cause as Error).message, 'boom');
    return true;
  });
  assert.deepEqual(log.slice(3), ['stop server', 'stop events']);
});

test('a service that rejects with the reason of its own stop has not failed', async () => {
  const starting: Service = {
    name: 'workers',
    run: async (signal) => {
      await aborted(signal);
      signal.throwIfAborted();
    },
  };
  const stop = new AbortController();
  const done = runServices([[starting]], stop.signal);
  stop.abort();
  await assert.doesNotReject(done);
});
