import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { BehaviorSubject } from 'rxjs';
import { capability } from '../../../src/csi/capability.ts';
import type { Node } from '../../../src/model/node.ts';
import { nodeUnderTest, nothingGiven, runServices, withoutCluster } from '../../builders/node-parts.ts';
import { csiPod } from '../../builders/csi-node.ts';
import { FakeKubeApi } from '../../fakes/fake-kube-api.ts';

test('before the first driver there is no timer and no request, and a pod without such volumes ends at once', async (t) => {
  const rootDir = await mkdtemp(join(tmpdir(), 'rxlet-csi-'));
  t.after(() => rm(rootDir, { recursive: true }));
  const api = new FakeKubeApi();
  const clients = {
    main: api.door('main'),
    events: api.door('e'),
    heartbeat: api.door('h'),
    reviews: api.door('r'),
    informer: api.informer,
  };
  const node: Node = { metadata: { name: 'n1', uid: 'u1' } };
  const cluster = { ...withoutCluster, exists: true, clients, node: () => node, nodeChanges: new BehaviorSubject(node) };
  const { node: parts, clock } = nodeUnderTest({ options: { rootDir }, cluster });
  t.after(() => parts.engine.close());
  const timers = clock.actions.length;
  const { csi, node: participant, services = [], plugins } = capability(parts);
  assert.equal(participant?.volumesInUse?.(), undefined);
  const { stop } = runServices(services, nothingGiven);
  for (const service of services) await service.ready?.(AbortSignal.timeout(5_000));
  await clock.advance(10_000);
  assert.deepEqual(participant?.volumesInUse?.(), []);
  const { uid } = csiPod().metadata;
  const signal = AbortSignal.timeout(5_000);
  await csi?.unpublish(uid, signal);
  assert.equal(await csi?.remain(uid), false);
  assert.equal(await csi?.usage(uid, 'v', signal), undefined);
  assert.equal(clock.actions.length, timers);
  assert.deepEqual(api.requests, []);
  assert.deepEqual(
    plugins?.map(({ type }) => type),
    ['CSIPlugin'],
  );
  await stop();
});
