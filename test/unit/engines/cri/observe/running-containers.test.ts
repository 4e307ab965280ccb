import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerState, NamespaceMode, PodSandboxState, RuntimeService } from '../../../../../src/engines/cri/api/runtime_pb.js';
import { RunningContainers } from '../../../../../src/engines/cri/observe/running-containers.ts';
import type { ContainerId } from '../../../../../src/ports/container-runtime.ts';
import { rpcError, ScriptedCri } from '../../../../fakes/scripted-cri.ts';

const { method } = RuntimeService;
const signal = new AbortController().signal;
const info = (pid: number): Record<string, string> => ({ info: JSON.stringify({ pid }) });

/** One pod of one container, and a sandbox that is no pod's. No process has these numbers. */
function aRuntime(): ScriptedCri {
  const PIDS = [2 ** 30, 2 ** 30 + 1] as const;
  return new ScriptedCri()
    .answer(method.listPodSandbox, () => ({
      items: [
        {
          id: 's1',
          state: PodSandboxState.SANDBOX_READY,
          createdAt: 5_000_000_000n,
          metadata: { name: 'web', namespace: 'shop', uid: 'u1' },
        },
        { id: 's2', state: PodSandboxState.SANDBOX_READY },
      ],
    }))
    .answer(method.listContainers, () => ({
      containers: [
        { id: 'c1', podSandboxId: 's1', state: ContainerState.CONTAINER_RUNNING },
        { id: 'c2', podSandboxId: 's2', state: ContainerState.CONTAINER_RUNNING },
      ],
    }))
    .answer(method.podSandboxStatus, ({ podSandboxId }) => ({
      status: { id: podSandboxId, linux: { namespaces: { options: { network: NamespaceMode.NODE } } } },
      info: info(PIDS[0]),
    }))
    .answer(method.containerStatus, ({ containerId }) => ({
      status: {
        id: containerId,
        state: ContainerState.CONTAINER_RUNNING,
        metadata: { name: 'app', attempt: 0 },
        image: { image: 'busybox:1.35' },
        startedAt: 7_000_000_000n,
        logPath: '/var/log/pods/shop_web_u1/app/0.log',
        resources: { linux: { cpuShares: 102n } },
      },
      info: info(PIDS[1]),
    }));
}

test('pods are told with what it takes to measure them, and others are left out', async () => {
  assert.deepEqual(await new RunningContainers(aRuntime()).list(signal), [
    {
      uid: 'u1',
      name: 'web',
      namespace: 'shop',
      network: 'node',
      sandbox: { id: 's1', name: 'POD', engineName: 's1', image: '', startedAtMs: 5000, pid: 2 ** 30, writableLayer: undefined },
      containers: [
        {
          id: 'c1',
          name: 'app',
          engineName: 'c1',
          image: 'busybox:1.35',
          startedAtMs: 7000,
          pid: 2 ** 30 + 1,
          cpuShares: 102,
          logPath: '/var/log/pods/shop_web_u1/app/0.log',
          writableLayer: undefined,
        },
      ],
    },
  ]);
});

test('each is asked about once, and again when what is known of it is stale', async () => {
  const cri = aRuntime();
  const running = new RunningContainers(cri);
  for (const _ of [1, 2, 3]) await running.list(signal);
  assert.deepEqual([cri.count('PodSandboxStatus'), cri.count('ContainerStatus')], [1, 1]);
  running.stale('c1' as ContainerId);
  await running.list(signal);
  assert.deepEqual([cri.count('PodSandboxStatus'), cri.count('ContainerStatus')], [1, 2]);
});

test('one that has gone since the listing, or whose process is not known, is left out; other trouble is told', async () => {
  const gone = aRuntime().answer(method.containerStatus, () => {
    throw rpcError('ContainerStatus', 'NotFound', 'gone');
  });
  assert.deepEqual((await new RunningContainers(gone).list(signal))[0]?.containers, []);
  const silent = aRuntime().answer(method.containerStatus, () => ({ status: { state: ContainerState.CONTAINER_RUNNING } }));
  assert.deepEqual((await new RunningContainers(silent).list(signal))[0]?.containers, []);
  const broken = aRuntime().answer(method.containerStatus, () => {
    throw rpcError('ContainerStatus', 'Unavailable', 'broken');
  });
  await assert.rejects(new RunningContainers(broken).list(signal), /broken/);
});
