import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { staticPodReader } from '../../../src/sources/read-static-pods.ts';
import { staticPodRules } from '../../../src/sources/static-pod-rules.ts';

const container = { name: 'app', image: 'busybox' };
const faultsOf = (spec: object, gates: Readonly<Record<string, boolean>> = {}): readonly string[] => {
  const read = staticPodReader({ source: 'file', nodeName: 'n', objects: true, ...staticPodRules(gates) });
  const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers: [container], ...spec } };
  return read(Buffer.from(stringify(manifest))).pods.flatMap(({ faults }) => faults.map(({ field, detail }) => `${field}: ${detail}`));
};

const fromFile = {
  volumes: [{ name: 'v', emptyDir: {} }],
  containers: [{ ...container, env: [{ name: 'A', valueFrom: { fileKeyRef: { key: 'A', path: 'env', volumeName: 'v' } } }] }],
};

test('EnvFiles', () => {
  assert.deepEqual(faultsOf(fromFile), []);
  assert.deepEqual(faultsOf(fromFile, { EnvFiles: false }), [
    'spec.containers[0].env[0].valueFrom: must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
  ]);
});

test('ContainerRestartRules', () => {
  const spec = { containers: [{ ...container, restartPolicy: 'Never' }] };
  assert.deepEqual(faultsOf(spec), []);
  assert.deepEqual(faultsOf(spec, { ContainerRestartRules: false, RestartAllContainersOnContainerExits: false }), [
    'spec.containers[0].restartPolicy: may not be set for non-init containers',
  ]);
});

test('PreventStaticPodAPIReferences', () => {
  const off = { PreventStaticPodAPIReferences: false };
  const claims = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }], serviceAccountName: 'robot' };
  assert.deepEqual(
    faultsOf(claims).map((fault) => fault.split(':')[0]),
    ['spec.serviceAccountName', 'spec.volumes[0].persistentVolumeClaim'],
  );
  assert.deepEqual(faultsOf(claims, off), []);
  const never = {
    volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: { name: 'ca', path: 'ca.pem' } }] } }],
    resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }],
  };
  assert.deepEqual(
    faultsOf(never, off).map((fault) => fault.split(':')[0]),
    ['spec.resourceClaims[0]', 'spec.volumes[0].projected.sources[0].clusterTrustBundle'],
  );
});
