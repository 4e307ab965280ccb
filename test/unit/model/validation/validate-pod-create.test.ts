import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { defaultPod } from '../../../../src/model/defaulting/default-pod.ts';
import type { Container, ObjectMeta, PodSpec } from '../../../../src/model/pod.ts';
import type { PodValidationOptions } from '../../../../src/model/validation/pod-validation-options.ts';
import { validatePodCreate } from '../../../../src/model/validation/validate-pod-create.ts';
import { anyPod } from '../../../builders/any-pod.ts';

type Found = readonly string[];
const app: Container = { name: 'app', image: 'nginx:1' };

/** `field: detail` of each error. */
function found(spec: Partial<PodSpec>, metadata: ObjectMeta = {}, options: Partial<PodValidationOptions> = {}): Found {
  const raw = { metadata: { name: 'web', namespace: 'default', ...metadata }, spec: { containers: [app], ...spec } };
  return validatePodCreate(defaultPod(raw), options).map(({ field, detail }) => `${field}: ${detail}`);
}
const inContainer = (over: Partial<Container>, spec: Partial<PodSpec> = {}): Found => found({ ...spec, containers: [{ ...app, ...over }] });
const inInit = (over: Partial<Container>): Found => found({ initContainers: [{ name: 'init', image: 'nginx:1', ...over }] });
const volumes = [{ name: 'data', emptyDir: {} }];
const probe = { tcpSocket: { port: 80 } };
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const refused: readonly (readonly [sentence: string, found: () => Found, expected: Found])[] = [
  ['a pod without containers', () => found({ containers: [] }), ['spec.containers: ']],
  ['a pod without a name', () => found({}, { name: '' }), ['metadata.name: name or generateName is required']],
  ['a host name in capitals', () => found({ hostname: 'H' }), [`spec.hostname: ${label}`]],
  ['two containers of one name', () => found({ containers: [app, app] }), ['spec.containers[1].name: ']],
  ['an init container of a container’s name', () => inInit({ name: 'app' }), ['spec.initContainers[0].name: ']],
  [
    'an image with a space at its end',
    () => inContainer({ image: 'a ' }),
    ['spec.containers[0].image: must not have leading or trailing whitespace'],
  ],
  [
    'two containers on one port of the host',
    () =>
      found({
        containers: [
          { ...app, ports: [{ containerPort: 1, hostPort: 5 }] },
          { ...app, name: 'b', ports: [{ containerPort: 2, hostPort: 5 }] },
        ],
      }),
    ['spec.containers[1].ports[0].hostPort: '],
  ],
  [
    'a mount of no volume',
    () => inContainer({ volumeMounts: [{ name: 'data', mountPath: '/d' }] }),
    ['spec.containers[0].volumeMounts[0].name: '],
  ],
  [
    'a sub-path that leads out of its volume',
    () => inContainer({ volumeMounts: [{ name: 'data', mountPath: '/d', subPath: '../x' }] }, { volumes }),
    ["spec.containers[0].volumeMounts.subPath: must not contain '..'"],
  ],
  [
    'a volume with two sources',
    () => found({ volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/x' } }] }),
    ['spec.volumes[0].hostPath: may not specify more than 1 volume type'],
  ],
  [
    'a request above its limit',
    () => inContainer({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
    ['spec.containers[0].resources.requests: must be less than or equal to cpu limit of 1'],
  ],
  [
    'a part of a device',
    () => inContainer({ resources: { limits: { 'nvidia.com/gpu': '1500m' } } }),
    [
      'spec.containers[0].resources.limits[nvidia.com/gpu]: must be an integer',
      'spec.containers[0].resources.requests[nvidia.com/gpu]: must be an integer',
    ],
  ],
  [
    'a probe without an action',
    () => inContainer({ livenessProbe: {} }),
    ['spec.containers[0].livenessProbe: must specify a handler type'],
  ],
  [
    'a liveness probe that must succeed twice',
    () => inContainer({ livenessProbe: { ...probe, successThreshold: 2 } }),
    ['spec.containers[0].livenessProbe.successThreshold: must be 1'],
  ],
  [
    'a probe of an init container',
    () => inInit({ readinessProbe: probe }),
    ['spec.initContainers[0].readinessProbe: may not be set for init containers without restartPolicy=Always'],
  ],
  [
    'an init container that restarts in no known way',
    () => inInit({ restartPolicy: 'Sometimes' }),
    ['spec.initContainers[0].restartPolicy: supported values: "Always", "Never", "OnFailure"'],
  ],
  [
    'a sleep longer than the grace period',
    () => inContainer({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }),
    ['spec.containers[0].lifecycle.preStop.sleep: must be non-negative and less than terminationGracePeriodSeconds (30)'],
  ],
  [
    'a token without a service account',
    () => found({ volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] }),
    ['spec.volumes[0].projected.sources[0].serviceAccountToken: must not be specified when serviceAccountName is not set'],
  ],
  [
    'a toleration of everything by value',
    () => found({ tolerations: [{}] }),
    ['spec.tolerations[0].operator: operator must be Exists when `key` is empty, which means "match all values and all keys"'],
  ],
  ['no DNS at all', () => found({ dnsPolicy: 'None' }), ['spec.dnsConfig: must provide `dnsConfig` when `dnsPolicy` is None']],
  ['an alias of no address', () => found({ hostAliases: [{ ip: '010.0.0.1' }] }), ['spec.hostAliases[0].ip: must not have leading 0s']],
  [
    'an ephemeral container',
    () => found({ ephemeralContainers: [{ name: 'debug', image: 'a' }] }),
    ['spec.ephemeralContainers: cannot be set on create'],
  ],
  [
    'an AppArmor profile for no container',
    () => found({}, { annotations: { 'container.apparmor.security.beta.kubernetes.io/x': 'unconfined' } }),
    ['metadata.annotations[container.apparmor.security.beta.kubernetes.io/x]: container not found'],
  ],
  [
    'seccomp said twice and differently',
    () =>
      found(
        { securityContext: { seccompProfile: { type: 'Unconfined' } } },
        { annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default' } },
      ),
    ['spec.securityContext.seccompProfile.type: seccomp type in annotation and field must match'],
  ],
  [
    'tolerations in an annotation that are no JSON',
    () => found({}, { annotations: { 'scheduler.alpha.kubernetes.io/tolerations': '[{"key":}]' } }),
    ["metadata.annotations: invalid character '}' looking for beginning of value"],
  ],
  [
    'a toleration in an annotation that Go cannot read',
    () => found({}, { annotations: { 'scheduler.alpha.kubernetes.io/tolerations': '[{"constructor":1,"TolerationSeconds":1e2}]' } }),
    ['metadata.annotations: json: cannot unmarshal number 1e2 into Go struct field Toleration.TolerationSeconds of type int64'],
  ],
  [
    'privilege where it is not allowed',
    () => found({ containers: [{ ...app, securityContext: { privileged: true } }] }, {}, { allowPrivileged: false }),
    ['spec.containers[0].securityContext.privileged: disallowed by cluster policy'],
  ],
];
for (const [sentence, actual, expected] of refused) test(`${sentence} is refused`, () => assert.deepEqual(actual(), expected));

const allowed: readonly (readonly [sentence: string, found: () => Found])[] = [
  ['the smallest pod', () => found({})],
  ['privilege', () => inContainer({ securityContext: { privileged: true } })],
  [
    'a sidecar with probes and hooks',
    () => inInit({ restartPolicy: 'Always', startupProbe: probe, lifecycle: { preStop: { exec: { command: ['a'] } } } }),
  ],
  ['a gRPC probe', () => inContainer({ readinessProbe: { grpc: { port: 50_051 } } })],
  ['a sleep before the end', () => inContainer({ lifecycle: { preStop: { sleep: { seconds: 5 } } } })],
  ['a grace period for a probe', () => inContainer({ livenessProbe: { ...probe, terminationGracePeriodSeconds: 5 } })],
  ['a CSI driver in capitals, as Go makes them small', () => found({ volumes: [{ name: 'v', csi: { driver: 'CS\u0130' } }] })],
  ['an image as a volume', () => found({ volumes: [{ name: 'v', image: { reference: 'a:1' } }] })],
  [
    'all addresses of the node in a variable',
    () => inContainer({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.hostIPs' } } }] }),
  ],
  [
    'fields of later versions',
    () => found({ hostUsers: false, os: { name: 'linux' }, schedulingGates: [{ name: 'a' }], setHostnameAsFQDN: true }),
  ],
  [
    'huge pages in the downward API behind their gate',
    () =>
      found(
        { containers: [{ ...app, env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.hugepages-2Mi' } } }] }] },
        {},
        { allowDownwardAPIHugePages: true },
      ),
  ],
];
for (const [sentence, actual] of allowed) test(`${sentence} is allowed`, () => assert.deepEqual(actual(), []));

test('validation never throws, whatever stands in a pod, and says what and where', () => {
  fc.assert(
    fc.property(anyPod, (any) => {
      for (const pod of [any, defaultPod(any)]) {
        for (const { type, field } of validatePodCreate(pod, { allowMultipleHugePageResources: false })) {
          assert.match(type, /^FieldValue[A-Z]/);
          assert.match(field, /^(metadata|spec)/);
        }
      }
    }),
  );
});
