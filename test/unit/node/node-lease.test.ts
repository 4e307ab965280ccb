import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject } from '../../../src/base/json-object.ts';
import { NodeLease } from '../../../src/node/node-lease.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { FakeKubeApi, refusals, type SentRequest } from '../../fakes/fake-kube-api.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { silentHappenings } from '../../fakes/silent-happenings.ts';

const leasePath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1';

/** A lease service under way; `stop` ends it and asserts that nothing is left. */
function leasing(): {
  clock: FakeClock;
  api: FakeKubeApi;
  log: RecordingLogger;
  start: () => void;
  stop: () => Promise<void>;
  leaseCalls: () => readonly string[];
} {
  const clock = new FakeClock();
  const api = new FakeKubeApi({ now: () => clock.now() });
  const log = new RecordingLogger();
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  return {
    clock,
    api,
    log,
    start: () => {
      running = new NodeLease({
        clock,
        log,
        api: api.door('heartbeat'),
        nodeName: 'n1',
        leaseDurationSeconds: 40,
        tell: silentHappenings,
      }).run(stop.signal);
    },
    stop: async () => {
      stop.abort();
      await running;
      assert.equal(clock.actions.length, 0);
    },
    leaseCalls: () => api.requests.filter(({ path }) => path.includes('/leases')).map(({ method }) => method),
  };
}

const specOf = (request: SentRequest | undefined): unknown => (isJsonObject(request?.body) ? request.body['spec'] : undefined);

test('a lease is made for the node, then renewed every quarter of its duration without reading', async () => {
  const { clock, api, start, stop, leaseCalls } = leasing();
  api.put('/api/v1/nodes/n1', {});
  start();
  await clock.advance(30_000);
  assert.deepEqual(leaseCalls(), ['GET', 'POST', 'PUT', 'PUT', 'PUT']);
  assert.deepEqual(specOf(api.requests.at(-1)), {
    holderIdentity: 'n1',
    leaseDurationSeconds: 40,
    renewTime: '1970-01-01T00:00:30.000000Z',
  });
  await stop();
});

test('without a node the lease is not made, and tried again soon', async () => {
  const { clock, api, start, stop, leaseCalls } = leasing();
  start();
  await clock.advance(1500);
  assert.equal(api.stored(leasePath), undefined);
  assert.deepEqual(leaseCalls(), ['GET', 'GET']);
  const { uid } = api.put('/api/v1/nodes/n1', {}).metadata;
  await clock.advance(500);
  assert.deepEqual(api.stored(leasePath)?.metadata['ownerReferences'], [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid }]);
  await stop();
});

test('an outage closes the connections, is told once, and ends with the next renewal', async () => {
  const { clock, api, log, start, stop } = leasing();
  api.put('/api/v1/nodes/n1', {});
  start();
  await clock.advance(5_000);
  const back = api.intercept(() => {
    throw refusals.internal();
  });
  await clock.advance(60_000);
  assert.equal(log.count('node lease failed, retrying'), 1);
  assert.ok(api.closed('heartbeat') >= 4);
  back();
  await clock.advance(7_000);
  assert.equal(log.count('node lease renewed again'), 1);
  await stop();
});

test('stopping ends a request under way', async () => {
  const { clock, api, start, stop } = leasing();
  api.intercept((_, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
  start();
  await clock.advance(1000);
  await stop();
});
