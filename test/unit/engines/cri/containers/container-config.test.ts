import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MountPropagation, NamespaceMode } from '../../../../../src/engines/cri/api/runtime_pb.js';
import { containerConfig } from '../../../../../src/engines/cri/containers/container-config.ts';
import { sandboxConfig } from '../../../../../src/engines/cri/sandbox/sandbox-config.ts';
import { aContainer, aPod } from '../../../../builders/a-pod.ts';

const container = aContainer('app', { resources: { limits: { cpu: '500m', memory: '64Mi' } } });
const pod = aPod('web', { containers: [container], hostNetwork: true }, {});

test('a sandbox is named after its pod, in the namespaces that the pod asks for', () => {
  const { metadata, linux, labels } = sandboxConfig(pod, { attempt: 2, hostname: undefined }, '/logs');
  assert.deepEqual([metadata?.name, metadata?.attempt, labels?.['io.kubernetes.pod.name']], ['web', 2, 'web']);
  assert.equal(linux?.securityContext?.namespaceOptions?.network, NamespaceMode.NODE);
});

test('a container has the log path, the notes and the limits that a kubelet gives it', () => {
  const node = {
    cgroup: 1,
    memoryCapacity: 2 ** 33,
    swapCapacity: 0,
    swapController: false,
    swapBehavior: '',
    allocatableMemory: 2 ** 33,
    cpuCfsQuota: true,
    cpuCfsQuotaPeriodUs: 100_000,
    singleProcessOomKill: undefined,
    memoryQos: false,
    memoryReservationPolicy: 'None',
    memoryThrottlingFactor: 0.9,
    hugePageSizes: [],
    exclusiveCpus: false,
  } as const;
  const mounts = [{ hostPath: '/a', containerPath: '/b', readOnly: true, propagation: 'hostToContainer' }] as const;
  const spec = { container, attempt: 3, imageRef: 'sha256:1', env: [], command: undefined, args: undefined, mounts };
  const plugged = { cdiDevices: ['vendor.com/gpu=0'], annotations: { 'vendor.com/a': 'b', 'io.kubernetes.container.restartCount': '9' } };
  const made = containerConfig({
    pod,
    spec: { ...spec, ...plugged },
    imageUser: { uid: 7n },
    node,
    seccompProfileRoot: '/seccomp',
    seccompDefault: false,
  });
  assert.equal(made.logPath, 'app/3.log');
  assert.equal(made.annotations?.['io.kubernetes.container.restartCount'], '3');
  assert.deepEqual([made.annotations?.['vendor.com/a'], made.CDIDevices], ['b', [{ name: 'vendor.com/gpu=0' }]]);
  assert.equal(made.mounts?.[0]?.propagation, MountPropagation.PROPAGATION_HOST_TO_CONTAINER);
  const { resources, securityContext } = made.linux ?? {};
  assert.deepEqual([resources?.cpuQuota, resources?.memoryLimitInBytes, securityContext?.runAsUser?.value], [50_000n, 67_108_864n, 7n]);
});
