import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { BehaviorSubject, Subject } from 'rxjs';
import { CsiNodeKeeper } from '../../../src/csi/csi-node-keeper.ts';
import type { DriverToShow } from '../../../src/csi/csi-node.ts';
import type { CsiDriver } from '../../../src/csi/csi-driver.ts';
import type { Node } from '../../../src/model/node.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { FakeKubeApi, refusals } from '../../fakes/fake-kube-api.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const CSI_NODE = '/apis/storage.k8s.io/v1/csinodes/n1';
const asDriver = ({ name, info }: DriverToShow): CsiDriver => ({
  name,
  info,
  can: () => false,
  call: () => Promise.reject(new Error()),
  close: () => {},
});

function scene(t: TestContext) {
  const api = new FakeKubeApi();
  const node: Node = api.put('/api/v1/nodes/n1', { metadata: { name: 'n1', uid: 'u1' } });
  const nodes = new BehaviorSubject<Node | undefined>(node);
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const changes = new Subject<void>();
  let here: readonly CsiDriver[] = [];
  let gone: readonly string[] = [];
  const drivers = { list: () => here, gone: () => gone, changes };
  const clients = {
    main: api.door('main'),
    events: api.door('e'),
    heartbeat: api.door('h'),
    reviews: api.door('r'),
    informer: api.informer,
  };
  const cluster = { clients, node: () => nodes.value, nodeChanges: nodes };
  const keeper = new CsiNodeKeeper({ cluster, nodeName: 'n1', drivers, clock, random: () => 0.5, log });
  const stop = new AbortController();
  const running = keeper.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
  });
  const show = async (nowHere: readonly DriverToShow[], nowGone: readonly string[] = []): Promise<void> => {
    here = nowHere.map(asDriver);
    gone = nowGone;
    changes.next();
    await clock.advance(1);
  };
  const shown = (): unknown => {
    const spec = api.stored(CSI_NODE)?.['spec'];
    return typeof spec === 'object' && spec !== null && 'drivers' in spec ? spec.drivers : undefined;
  };
  return { api, nodes, clock, log, show, shown };
}

const disk: DriverToShow = { name: 'disk', info: { nodeId: 'i-1', maxVolumes: 0, topology: { zone: 'a' } } };

test('nothing is asked for before the first driver; it is shown in the CSINode and on the Node, and no longer once it has gone', async (t) => {
  const { api, nodes, clock, show, shown } = scene(t);
  await clock.advance(600_000);
  assert.deepEqual(api.requests, []);
  await show([disk]);
  assert.deepEqual(shown(), [{ name: 'disk', nodeID: 'i-1', topologyKeys: ['zone'] }]);
  const metadata = api.stored('/api/v1/nodes/n1')?.metadata;
  assert.deepEqual(
    [metadata?.['labels'], metadata?.['annotations']],
    [{ zone: 'a' }, { 'csi.volume.kubernetes.io/nodeid': '{"disk":"i-1"}' }],
  );
  assert.deepEqual(api.calls(), ['PATCH /api/v1/nodes/n1/status', `GET ${CSI_NODE}`, 'POST /apis/storage.k8s.io/v1/csinodes']);
  nodes.next(api.stored('/api/v1/nodes/n1'));
  await show([], ['disk']);
  await clock.advance(1_000);
  assert.deepEqual(shown(), []);
  assert.deepEqual(api.stored('/api/v1/nodes/n1')?.metadata['annotations'], {});
  // All quiet again.
  const { length } = api.requests;
  await clock.advance(600_000);
  assert.equal(api.requests.length, length);
});

test('what cannot be written is written later, and said once; a Node that is made anew gets it again', async (t) => {
  const { api, nodes, clock, log, show, shown } = scene(t);
  api.refuse('POST', '/csinodes', refusals.forbidden(), 3);
  await show([disk]);
  assert.equal(shown(), undefined);
  await clock.advance(10_000);
  assert.deepEqual(shown(), [{ name: 'disk', nodeID: 'i-1', topologyKeys: ['zone'] }]);
  assert.equal(log.lines.filter(({ message }) => message.includes('not shown')).length, 1);
  api.remove(CSI_NODE);
  api.remove('/api/v1/nodes/n1');
  nodes.next(undefined);
  nodes.next(api.put('/api/v1/nodes/n1', { metadata: { name: 'n1', uid: 'u2' } }));
  await clock.advance(1);
  assert.deepEqual(api.stored('/api/v1/nodes/n1')?.metadata['labels'], { zone: 'a' });
  assert.deepEqual(api.stored(CSI_NODE)?.metadata['ownerReferences'], [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u2' }]);
});

test('a driver that the API server refuses keeps no other from being shown, and is named', async (t) => {
  const { api, clock, log, show, shown } = scene(t);
  const topology = { 'node-restriction.kubernetes.io/zone': 'a' };
  const refused: DriverToShow = { name: 'bad', info: { nodeId: 'i-2', maxVolumes: 0, topology } };
  api.intercept(({ method, body }) => {
    if (method === 'PATCH' && JSON.stringify(body).includes('node-restriction'))
      throw refusals.forbidden('is not allowed to modify labels');
  });
  await show([refused, disk]);
  assert.deepEqual(shown(), [{ name: 'disk', nodeID: 'i-1', topologyKeys: ['zone'] }]);
  assert.deepEqual(api.stored('/api/v1/nodes/n1')?.metadata['labels'], { zone: 'a' });
  await clock.advance(600_000);
  const lines = log.lines.filter(({ message }) => message.includes('not shown'));
  assert.equal(lines.length, 1);
  assert.match(String(lines[0]?.fields['error']), /CSI driver bad: forbidden: is not allowed to modify labels/);
});

test('a driver that comes and goes without end is shown no more often than once a second', async (t) => {
  const { api, clock, show } = scene(t);
  const again: DriverToShow = { name: 'disk', info: { ...disk.info, nodeId: 'i-2' } };
  for (let i = 0; i < 100; i++) {
    await show([i % 2 === 0 ? disk : again]);
    await clock.advance(9);
  }
  const writes = (): number => api.calls().filter((call) => !call.startsWith('GET')).length;
  assert.ok(writes() <= 4, `${writes()}`);
  await clock.advance(10_000);
  assert.deepEqual(api.stored('/api/v1/nodes/n1')?.metadata['annotations'], { 'csi.volume.kubernetes.io/nodeid': '{"disk":"i-2"}' });
});
