import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { defaultPod } from '../../../../src/model/defaulting/default-pod.ts';
import type { Container, PodSpec, RawPod } from '../../../../src/model/pod.ts';
import { anyPod } from '../../../builders/any-pod.ts';

const pod = (spec: Partial<PodSpec>): RawPod => ({ metadata: { name: 'web' }, spec: { containers: [], ...spec } });
const specOf = (spec: Partial<PodSpec>): Partial<PodSpec> => defaultPod(pod(spec)).spec ?? {};
const containerOf = (container: Partial<Container>): Partial<Container> =>
  specOf({ containers: [{ name: 'c', ...container }] }).containers?.[0] ?? {};
const volumeOf = (source: object): unknown => specOf({ volumes: [{ name: 'v', ...source }] }).volumes?.[0];

const rules: readonly (readonly [sentence: string, actual: () => unknown, expected: unknown])[] = [
  [
    'a pod that says nothing restarts, resolves and ends as Kubernetes has it',
    () => defaultPod({}).spec,
    {
      containers: [],
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      terminationGracePeriodSeconds: 30,
      securityContext: {},
      enableServiceLinks: true,
    },
  ],
  ['a grace period of zero is kept', () => specOf({ terminationGracePeriodSeconds: 0 }).terminationGracePeriodSeconds, 0],
  ['service links that are switched off stay off', () => specOf({ enableServiceLinks: false }).enableServiceLinks, false],
  ['the older name of the service account is an alias', () => specOf({ serviceAccount: 'sa' }).serviceAccountName, 'sa'],
  ['where both names are given, the newer wins', () => specOf({ serviceAccount: 'a', serviceAccountName: 'b' }).serviceAccount, 'b'],
  ['an image called latest is always pulled', () => containerOf({ image: 'nginx' }).imagePullPolicy, 'Always'],
  ['an image with a tag is pulled when it is not there', () => containerOf({ image: 'nginx:1' }).imagePullPolicy, 'IfNotPresent'],
  [
    'a limit is also a request',
    () => containerOf({ resources: { limits: { cpu: '1', memory: '64Mi' }, requests: { cpu: '500m' } } }).resources?.requests,
    { cpu: '500m', memory: '64Mi' },
  ],
  [
    'resources are rounded up to thousandths',
    () => containerOf({ resources: { requests: { cpu: '100u' } } }).resources?.requests,
    { cpu: '1m' },
  ],
  [
    'on the host network a port is the same port of the host',
    () => specOf({ hostNetwork: true, containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] }).containers?.[0]?.ports,
    [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }],
  ],
  [
    'a probe gets its times and an HTTP request its path and scheme',
    () => containerOf({ livenessProbe: { httpGet: { port: 80 } } }).livenessProbe,
    {
      httpGet: { port: 80, path: '/', scheme: 'HTTP' },
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    },
  ],
  [
    'a gRPC probe asks for the unnamed service',
    () => containerOf({ readinessProbe: { grpc: { port: 1 } } }).readinessProbe?.grpc?.service,
    '',
  ],
  ['a volume without a source is an empty directory', () => volumeOf({}), { name: 'v', emptyDir: {} }],
  [
    'secret files are readable by all',
    () => volumeOf({ secret: { secretName: 's' } }),
    { name: 'v', secret: { secretName: 's', defaultMode: 0o644 } },
  ],
  ['a mode of zero is a mode', () => volumeOf({ secret: { defaultMode: 0 } }), { name: 'v', secret: { defaultMode: 0 } }],
  [
    'a projected token lives for an hour',
    () => volumeOf({ projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }),
    { name: 'v', projected: { defaultMode: 0o644, sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }] } },
  ],
  [
    'an image volume is pulled as a container image is',
    () => volumeOf({ image: { reference: 'a:latest' } }),
    { name: 'v', image: { reference: 'a:latest', pullPolicy: 'Always' } },
  ],
  [
    'annotations that held init containers are dropped',
    () => defaultPod({ metadata: { annotations: { 'pod.beta.kubernetes.io/init-containers': '[]', a: 'b' } } }).metadata,
    { annotations: { a: 'b' } },
  ],
  [
    'of two different addresses the single one is right',
    () => defaultPod({ status: { podIP: '1', podIPs: [{ ip: '2' }] } }).status?.podIPs,
    [{ ip: '1' }],
  ],
  ['the first of many addresses is the single one', () => defaultPod({ status: { podIPs: [{ ip: '2' }] } }).status?.podIP, '2'],
  [
    'kind and apiVersion are known and dropped',
    () => Object.keys(defaultPod({ kind: 'Pod', apiVersion: 'v1' })).sort(),
    ['metadata', 'spec', 'status'],
  ],
];

for (const [sentence, actual, expected] of rules) test(sentence, () => assert.deepEqual(actual(), expected));

test('a defaulted pod stays as it is', () => {
  fc.assert(
    fc.property(anyPod, (any) => {
      const once = defaultPod(any);
      assert.deepEqual(defaultPod(once), once);
    }),
  );
});

test('what is defaulted is not mutated', () => {
  fc.assert(
    fc.property(anyPod, (any) => {
      const before = structuredClone(any);
      defaultPod(any);
      assert.deepEqual(any, before);
    }),
  );
});
