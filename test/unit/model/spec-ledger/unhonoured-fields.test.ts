import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../../../../src/model/pod.ts';
import { unhonouredFields } from '../../../../src/model/spec-ledger/unhonoured-fields.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';

const found = (spec: Partial<PodSpec>): readonly string[] => unhonouredFields(aPod('web', spec)).map(({ field, is }) => `${field} ${is}`);

test('a pod that asks for what everybody asks for is honoured', () => {
  assert.deepEqual(
    found({
      containers: [
        aContainer('a', {
          livenessProbe: { exec: { command: ['true'] } },
          lifecycle: { preStop: { sleep: { seconds: 1 } } },
          resources: { requests: { cpu: '1', memory: '1Gi', 'ephemeral-storage': '1Gi' }, limits: { cpu: '1', memory: '1Gi' } },
          resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }],
          securityContext: { runAsNonRoot: true, capabilities: { drop: ['ALL'] } },
          terminationMessagePolicy: 'FallbackToLogsOnError',
        }),
      ],
      initContainers: [aContainer('sidecar', { restartPolicy: 'Always' })],
      tolerations: [{ operator: 'Exists' }],
      hostUsers: true,
      os: { name: 'linux' },
      readinessGates: [{ conditionType: 'a/b' }],
      volumes: [
        { name: 'disk', emptyDir: {} },
        { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
      ],
    }),
    [],
  );
});

test('each field that is not honoured as it is written is named by its path', () => {
  const rows: readonly (readonly [Partial<PodSpec>, readonly string[]])[] = [
    [{ hostUsers: false }, ['spec.hostUsers approximated']],
    [{ os: { name: 'windows' } }, ['spec.os.name refused']],
    [{ runtimeClassName: 'gvisor' }, []],
    [{ hostnameOverride: 'other' }, []],
    [{ securityContext: { supplementalGroupsPolicy: 'Strict' } }, []],
    [{ securityContext: { seLinuxOptions: { level: 's0' } } }, []],
    [{ volumes: [{ name: 'v', emptyDir: { medium: 'HugePages' } }] }, []],
    [{ volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }] }, ['spec.volumes[0].emptyDir approximated']],
    [
      {
        volumes: [
          { name: 'v', hostPath: { path: '/tmp' } },
          { name: 'w', flocker: { datasetName: 'd' } },
        ],
      },
      ['spec.volumes[1].flocker refused'],
    ],
    [{ initContainers: [aContainer('i', { volumeDevices: [{ name: 'v', devicePath: '/dev/x' }] })] }, []],
    [
      { containers: [aContainer('a'), aContainer('b', { resources: { limits: { 'hugepages-2Mi': '4Mi' } } })] },
      ['spec.containers[1].resources.limits approximated'],
    ],
    [{ containers: [aContainer('a', { volumeDevices: [] })] }, []],
  ];
  for (const [spec, expected] of rows) assert.deepEqual(found(spec), expected, JSON.stringify(spec));
});
