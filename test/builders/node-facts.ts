import type { NodeFacts } from '../../src/node/compose-node-status.ts';
import { parseIp } from '../../src/node/ip-address.ts';

/** Facts of a machine that is fine: 4 cores, 8 GiB, 10.0.0.1, an engine with one image. */
export function someNodeFacts(changes: Partial<NodeFacts> = {}): NodeFacts {
  const nodeIp = parseIp('10.0.0.1');
  return {
    nowMs: Date.UTC(2021, 1, 3, 4, 5, 6),
    addresses: {
      nodeName: 'n1',
      nodeIps: nodeIp ? [nodeIp] : [],
      hostname: 'n1',
      externalCloudProvider: false,
      byName: [],
      byDefaultRoute: [],
      fault: () => undefined,
    },
    machine: {
      cores: 4,
      memoryBytes: 8 * 2 ** 30,
      swapBytes: 0,
      machineId: 'machine',
      systemUuid: 'system',
      bootId: 'boot',
      hugePages: [],
    },
    maxPods: 110,
    podsPerCore: 0,
    capacity: { 'ephemeral-storage': '20Gi' },
    reservation: {},
    versions: { kernelVersion: '6.1.0', osImage: 'Debian', containerRuntimeVersion: 'docker://20.10.24', release: '0.1.0', arch: 'x64' },
    engineFeatures: undefined,
    declaredFeatures: undefined,
    kubeletPort: 10_250,
    images: [{ repoTags: ['busybox:1.35'], repoDigests: [], sizeBytes: 1000 }],
    nodeStatusMaxImages: 50,
    conditions: [],
    readiness: { errors: [] },
    volumesInUse: undefined,
    ...changes,
  };
}
