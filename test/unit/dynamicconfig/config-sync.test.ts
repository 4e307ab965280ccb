import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { CheckpointStore } from '../../../src/dynamicconfig/checkpoint-store.ts';
import { ConfigSync } from '../../../src/dynamicconfig/config-sync.ts';
import type { Node } from '../../../src/model/node.ts';
import type { NodeConfigs } from '../../../src/model/node-config.ts';
import type { ApiRequest } from '../../../src/ports/kube-api.ts';
import { nodeUnderTest, withoutCluster } from '../../builders/node-parts.ts';
import { aSource, kubelet } from './some-sources.ts';

const own: NodeConfigs = { assigned: undefined, active: undefined, lastKnownGood: undefined, error: undefined };
const { signal } = new AbortController();

let dir: string;
let store: CheckpointStore;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rxlet-config-sync-'));
  store = new CheckpointStore(dir);
  await store.initialize();
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** `answer`: of the ConfigMap. */
function setUp(answer: () => unknown, configs = own) {
  const requests: ApiRequest[] = [];
  const request = async (asked: ApiRequest): Promise<never> => {
    requests.push(asked);
    return (asked.method === 'GET' ? answer() : {}) as never;
  };
  const door = { request, closeConnections: () => {} };
  const clients = { ...withoutCluster.clients, main: door, events: door };
  let restarts = 0;
  const scene = nodeUnderTest({ cluster: { ...withoutCluster, clients } });
  const config = { ...scene.node.config, restart: () => void restarts++ };
  const sync = new ConfigSync({ ...scene.node, config }, store, configs);
  return { ...scene, sync, requests, restarts: () => restarts };
}

const naming = (over: object = {}): Node => ({
  spec: { configSource: { configMap: { namespace: 'kube-system', name: 'node-config', kubeletConfigKey: 'kubelet', ...over } } },
});
const configMap = (over: object = {}, data: object = { kubelet: kubelet(5) }) => ({
  metadata: { uid: aSource().uid, resourceVersion: '7', ...over },
  data,
});

test('a ConfigMap is downloaded and assigned, an event says so, and the agent ends: not before it has run for five seconds', async () => {
  const { sync, clock, requests, restarts } = setUp(() => configMap());
  const syncing = sync.sync(naming(), signal);
  await clock.advance(4_999);
  assert.equal(restarts(), 0);
  assert.equal(await store.source('assigned'), undefined);
  while (restarts() === 0) await clock.advance(1);
  assert.equal(await syncing, true);
  assert.deepEqual(await store.source('assigned'), aSource());
  const event = requests.find(({ method }) => method === 'POST')?.body;
  assert.match(
    JSON.stringify(event),
    /KubeletConfigChanged.*restarting to use .*node-config, UID: .*, ResourceVersion: 7, KubeletConfigKey: kubelet/,
  );
});

test('what is assigned already is nothing new', async () => {
  const { sync, restarts } = setUp(() => configMap(), { ...own, assigned: aSource(), active: aSource() });
  assert.equal(await sync.sync(naming(), signal), true);
  assert.equal(restarts(), 0);
});

describe('what cannot be taken is an error in the words of the original, and nothing is written', () => {
  const internal = 'failed to sync: internal failure, see Kubelet log for details';
  const cases: readonly (readonly [string, Node, () => unknown, string])[] = [
    ['a key like ../../x', naming({ kubeletConfigKey: '../../x' }), () => configMap(), internal],
    ['a namespace that leads elsewhere', naming({ namespace: '../secrets' }), () => configMap(), internal],
    ['a uid that is a path', naming(), () => configMap({ uid: '../..' }), internal],
    ['another key like ../../x in the ConfigMap', naming(), () => configMap({}, { kubelet: kubelet(5), '../../x': 'a' }), internal],
    ['a ConfigMap of 2 MB', naming(), () => configMap({}, { kubelet: 'x'.repeat(2 ** 21) }), internal],
    [
      'a ConfigMap that is not there',
      naming(),
      () => {
        throw new Error('not found');
      },
      'failed to sync: failed to download config, see Kubelet log for details',
    ],
    [
      'a source of another kind',
      { spec: { configSource: {} } },
      () => configMap(),
      'failed to sync: invalid NodeConfigSource, exactly one subfield must be non-nil, but all were nil',
    ],
  ];
  for (const [what, node, answer, error] of cases)
    test(what, async () => {
      const { sync, restarts } = setUp(answer);
      assert.equal(await sync.sync(node, signal), false);
      assert.equal(sync.configs.error, error);
      assert.equal(restarts(), 0);
      assert.deepEqual(await readdir(join(dir, 'store/checkpoints')), []);
    });
});

test('what has been in use for more than ten minutes is the last known good one', async () => {
  await store.save(aSource(), { kubelet: kubelet(5) });
  await store.set('assigned', aSource());
  const { sync, clock } = setUp(() => configMap(), { ...own, assigned: aSource(), active: aSource() });
  await clock.advance(3_600_000);
  const nowSeconds = clock.now() / 1000;
  await utimes(join(dir, 'store/meta/assigned'), nowSeconds - 600, nowSeconds - 600);
  await sync.checkTrial();
  assert.equal(sync.configs.lastKnownGood, undefined);
  await utimes(join(dir, 'store/meta/assigned'), nowSeconds - 601, nowSeconds - 601);
  await sync.checkTrial();
  assert.deepEqual(sync.configs.lastKnownGood, aSource());
  assert.deepEqual(await store.source('last-known-good'), aSource());
});

test('one that was rolled back is on no trial', async () => {
  await store.set('assigned', aSource());
  await utimes(join(dir, 'store/meta/assigned'), 0, 0);
  const { sync } = setUp(() => configMap(), { ...own, assigned: aSource(), error: 'x' });
  await sync.checkTrial();
  assert.equal(await store.source('last-known-good'), undefined);
});
