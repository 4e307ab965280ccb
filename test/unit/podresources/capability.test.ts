import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { toJson } from '@bufbuild/protobuf';
import assert from 'node:assert/strict';
import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { GrpcClient } from '../../../src/base/grpc/grpc-client.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { Pod, PodStatus, PodUid } from '../../../src/model/pod.ts';
import { PodResourcesLister } from '../../../src/podresources/api/podresources-v1_pb.js';
import { PodResourcesLister as OldLister } from '../../../src/podresources/api/podresources-v1alpha1_pb.js';
import { capability } from '../../../src/podresources/capability.ts';
import type { AssignedResources } from '../../../src/ports/assigned-resources.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { nothingGiven } from '../../builders/node-parts.ts';
import { someOptions } from '../../builders/some-options.ts';
import { silentHappenings } from '../../fakes/silent-happenings.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const never = new AbortController().signal;
const { list, get, getAllocatableResources } = PodResourcesLister.method;

let rootDir: string;
let client: GrpcClient;
let pods: readonly Pod[] = [];
let stop: () => Promise<void>;
const statuses = new Map<PodUid, PodStatus>();
const assigned: AssignedResources[] = [];

beforeEach(async () => {
  rootDir = mkdtempSync(join(tmpdir(), 'rxlet-pr-'));
  pods = [];
  statuses.clear();
  assigned.length = 0;
  const store = {
    get: () => undefined,
    list: () => pods.map((pod) => ({ pod, source: 'file' as const })),
    named: () => [],
    staticNamesakeOf: () => undefined,
    synced: true,
    syncedOnce: Promise.resolve(),
  };
  const reader = { get: (uid: PodUid) => statuses.get(uid) };
  const [service] =
    capability({
      options: someOptions({ rootDir }),
      clock: new FakeClock(),
      log: silentLogger,
      tell: silentHappenings,
      pods: store,
      statuses: reader as never,
    }).services ?? [];
  const end = new AbortController();
  const running = service?.run(end.signal, { ...nothingGiven, assigned });
  client = new GrpcClient({
    target: { socketPath: join(rootDir, 'pod-resources/kubelet.sock') },
    clock: systemClock,
    userAgent: 'test',
    maxMessageBytes: 16 << 20,
  });
  stop = async () => {
    client.close();
    end.abort();
    await running;
  };
  while (lstatSync(join(rootDir, 'pod-resources/kubelet.sock'), { throwIfNoEntry: false }) === undefined)
    await new Promise((resolve) => setImmediate(resolve));
});
afterEach(async () => {
  await stop();
  rmSync(rootDir, { recursive: true });
});

async function ask<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  input: MessageInitShape<I>,
): Promise<unknown> {
  const answer: MessageShape<O> = await client.unary(method, input, { timeoutMs: 5000 }, never);
  return toJson(method.output, answer);
}

const aGpuPod = (name: string): Pod =>
  aPod(
    name,
    {
      initContainers: [aContainer('init'), { ...aContainer('side'), restartPolicy: 'Always' }],
      containers: [aContainer('app')],
    },
    { uid: name as PodUid },
  );

const some: AssignedResources = {
  devices: (uid, container) => (uid === 'p' && container === 'app' ? [{ resource: 'a.b/gpu', id: 'g0', nodes: [1] }] : []),
  allocatableDevices: () => ['g0', 'g1'].map((id) => ({ resource: 'a.b/gpu', id, nodes: [] })),
  cpus: (uid, container) => (uid === 'p' && container === 'side' ? [2, 3] : []),
  allocatableCpus: () => [1, 2, 3],
  memory: (_, container) => (container === 'app' ? [{ type: 'hugepages-2Mi', bytes: 2 ** 33, nodes: [0, 1] }] : []),
  allocatableMemory: () => [{ type: 'memory', bytes: 2 ** 40, nodes: [0] }],
};
const claims: AssignedResources = {
  claims: ({ metadata }, { name }) =>
    metadata.name === 'p' && name === 'app'
      ? [{ name: 'c', namespace: 'default', devices: [{ driver: 'd', pool: 'n', device: 'x', cdiDevices: ['d/x=1'] }] }]
      : [],
};
const ofP = {
  name: 'p',
  namespace: 'default',
  containers: [
    { name: 'side', cpuIds: ['2', '3'] },
    {
      name: 'app',
      devices: [{ resourceName: 'a.b/gpu', deviceIds: ['g0'], topology: { nodes: [{ ID: '1' }] } }],
      memory: [{ memoryType: 'hugepages-2Mi', size: '8589934592', topology: { nodes: [{}, { ID: '1' }] } }],
      dynamicResources: [
        {
          claimName: 'c',
          claimNamespace: 'default',
          claimResources: [{ driverName: 'd', poolName: 'n', deviceName: 'x', cdiDevices: [{ name: 'd/x=1' }] }],
        },
      ],
    },
  ],
};

test('pods that have not ended are listed with what their containers have for themselves', async () => {
  assigned.push(some, claims);
  pods = [aGpuPod('p'), aGpuPod('ended')];
  statuses.set('ended' as PodUid, { phase: 'Succeeded' });
  assert.deepEqual(await ask(list, {}), { podResources: [ofP] });
  assert.deepEqual(await ask(get, { podName: 'p', podNamespace: 'default' }), { podResources: ofP });
  await assert.rejects(ask(get, { podName: 'q', podNamespace: 'default' }), /Unknown desc = pod q in namespace default not found/);
});

test('what containers can have is told as well', async () => {
  assigned.push(some);
  assert.deepEqual(await ask(getAllocatableResources, {}), {
    devices: ['g0', 'g1'].map((id) => ({ resourceName: 'a.b/gpu', deviceIds: [id] })),
    cpuIds: ['1', '2', '3'],
    memory: [{ memoryType: 'memory', size: '1099511627776', topology: { nodes: [{}] } }],
  });
});

test('v1alpha1 knows of devices of app containers alone, of all pods', async () => {
  assigned.push(some);
  pods = [aGpuPod('p'), aGpuPod('ended')];
  statuses.set('ended' as PodUid, { phase: 'Failed' });
  assert.deepEqual(await ask(OldLister.method.list, {}), {
    podResources: [
      { name: 'p', namespace: 'default', containers: [{ name: 'app', devices: [{ resourceName: 'a.b/gpu', deviceIds: ['g0'] }] }] },
      { name: 'ended', namespace: 'default', containers: [{ name: 'app' }] },
    ],
  });
});

test('after ten calls at once the next ones are rejected', async () => {
  const answers = await Promise.allSettled(Array.from({ length: 12 }, () => ask(list, {})));
  const rejected = answers.flatMap((answer) => (answer.status === 'rejected' ? [String(answer.reason)] : []));
  assert.equal(rejected.length, 2);
  assert.match(rejected[0] ?? '', /ResourceExhausted desc = rejected by rate limit/);
});

test("the socket is its owner's and his group's", () => {
  assert.equal(lstatSync(join(rootDir, 'pod-resources/kubelet.sock')).mode & 0o777, 0o660);
  assert.equal(lstatSync(join(rootDir, 'pod-resources')).mode & 0o777, 0o750);
});
