import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { capabilityArgs } from '../../../../src/engines/cni/capability-args.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';

const BURST = 2_147_483_647;
const annotated = (annotations: Record<string, string>): ReturnType<typeof aPod> => aPod('web', {}, { annotations });

test('ports of the node go to the plugin that maps them, others do not', () => {
  const ports = [
    { containerPort: 80, hostPort: 8080, protocol: 'TCP' },
    { containerPort: 53, hostPort: 53, protocol: 'UDP', hostIP: '10.0.0.1' },
    { containerPort: 9090, protocol: 'TCP' },
  ];
  assert.deepEqual(capabilityArgs(aPod('web', { containers: [aContainer('app', { ports })] })), {
    portMappings: [
      { hostPort: 8080, containerPort: 80, protocol: 'tcp', hostIP: '' },
      { hostPort: 53, containerPort: 53, protocol: 'udp', hostIP: '10.0.0.1' },
    ],
  });
});

test('rates are bits a second, with as much burst as there can be', () => {
  const pod = annotated({ 'kubernetes.io/ingress-bandwidth': '10M', 'kubernetes.io/egress-bandwidth': '1k' });
  assert.deepEqual(capabilityArgs(pod)['bandwidth'], {
    ingressRate: 10_000_000,
    ingressBurst: BURST,
    egressRate: 1000,
    egressBurst: BURST,
  });
  assert.deepEqual(capabilityArgs(annotated({ 'kubernetes.io/egress-bandwidth': '1P' }))['bandwidth'], {
    egressRate: 1e15,
    egressBurst: BURST,
  });
});

describe('a rate that is none is refused', () => {
  for (const [rate, why] of [
    ['999', 'resource is unreasonably small (< 1kbit)'],
    ['2P', 'resoruce is unreasonably large (> 1Pbit)'],
    ['fast', "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
  ] as const) {
    test(rate, () => {
      assert.throws(() => capabilityArgs(annotated({ 'kubernetes.io/ingress-bandwidth': rate })), {
        message: `failed to get pod bandwidth from annotations: ${why}`,
      });
    });
  }
});
