import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { formatManifestFault } from '../../../src/model/manifest-fault.ts';
import { staticPodReader, type StaticPodResult } from '../../../src/sources/read-static-pods.ts';
import { aManifest } from '../../builders/a-manifest.ts';

const read = staticPodReader({ source: 'file', nodeName: 'node-1' });
const one = (text: string): StaticPodResult => {
  const [result] = read(Buffer.from(text)).pods;
  assert.ok(result);
  return result;
};

test('a static pod is named for its node, bound to it and pending', () => {
  const { pod, key } = one(aManifest('web'));
  assert.equal(key, 'default/web');
  assert.equal(pod?.metadata.name, 'web-node-1');
  assert.equal(pod.metadata.namespace, 'default');
  assert.match(pod.metadata.uid, /^[0-9a-f]{32}$/);
  assert.equal(pod.metadata.annotations?.['kubernetes.io/config.hash'], pod.metadata.uid);
  assert.equal(pod.metadata.selfLink, '/api/v1/namespaces/default/pods/web-node-1');
  assert.equal(pod.spec.nodeName, 'node-1');
  assert.equal(pod.status?.phase, 'Pending');
});

test('the uid is the content’s: comments and order leave it, a changed image does not', () => {
  const uid = (text: string): string | undefined => one(text).pod?.metadata.uid;
  const text = aManifest('web');
  assert.equal(uid(`# hello\n${text}`), uid(text));
  assert.equal(uid(text.replace('  - name: app\n    image: busybox:1.35\n', '  - image: busybox:1.35\n    name: app\n')), uid(text));
  assert.notEqual(uid(aManifest('web', 'busybox:1.36')), uid(text));
});

test('validation errors are told where they stand', () => {
  const text = `${aManifest('web')}  - name: app\n    command: [x]\n  restartPolicy: Sometimes\n`;
  assert.deepEqual(
    one(text).faults.map((fault) => formatManifestFault('web.yaml', fault)),
    [
      'web.yaml:9:11 spec.containers[1].name: Duplicate value: "app"',
      'web.yaml:9:5 spec.containers[1].image: Required value',
      'web.yaml:11:18 spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
    ],
  );
});

test('a static pod that wants something of the API server is refused before start, with path and rule (kubernetes/kubernetes#103587)', () => {
  const container = '  containers:\n  - name: app\n    image: busybox:1.35\n';
  const cases: readonly (readonly [spec: string, field: string, resource: string])[] = [
    [`  serviceAccountName: me\n${container}`, 'spec.serviceAccountName', 'serviceaccounts'],
    [`  serviceAccount: me\n${container}`, 'spec.serviceAccountName', 'serviceaccounts'],
    [`  imagePullSecrets: [{name: s}]\n${container}`, 'spec.imagePullSecrets[0]', 'secrets'],
    [`  volumes: [{name: v, configMap: {name: m}}]\n${container}`, 'spec.volumes[0].configMap', 'configmaps'],
    [`  volumes: [{name: v, secret: {secretName: s}}]\n${container}`, 'spec.volumes[0].secret', 'secrets'],
    [
      `  volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]\n${container}`,
      'spec.volumes[0].persistentVolumeClaim',
      'persistentvolumeclaims',
    ],
    [
      `  volumes: [{name: v, projected: {sources: [{secret: {name: s}}]}}]\n${container}`,
      'spec.volumes[0].projected.sources[0].secret',
      'secrets',
    ],
    [`${container}    envFrom: [{configMapRef: {name: m}}]\n`, 'spec.containers[0].envFrom[0].configMapRef', 'configmaps'],
    [
      `${container}    env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]\n`,
      'spec.containers[0].env[0].valueFrom.secretKeyRef',
      'secrets',
    ],
  ];
  for (const [spec, field, resource] of cases) {
    const text = `apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n${spec}`;
    const { pod, faults } = one(text);
    assert.equal(pod, undefined);
    assert.deepEqual(
      faults.map((fault) => [fault.type, fault.field]),
      [['FieldValueForbidden', field]],
    );
    assert.match(faults[0]?.detail ?? '', new RegExp(`static pods may not reference ${resource}: `));
    const lenient = staticPodReader({ source: 'file', nodeName: 'n', references: 'allow' })(Buffer.from(text));
    assert.deepEqual(lenient.pods[0]?.faults, []);
  }
});

test('the committed pod schema is what the models say', () => {
  const { status, stderr } = spawnSync(process.execPath, [resolve('hack/generate-pod-schema.ts'), '--check'], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});

test('a field that may not be set is set by an empty list too', () => {
  const manifest = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: {
      containers: [{ name: 'c', image: 'a' }],
      ephemeralContainers: [{ name: 'e', image: 'a', ports: [], resources: { limits: {} }, env: [] }],
      volumes: [
        {
          name: 'v',
          ephemeral: {
            volumeClaimTemplate: {
              metadata: { finalizers: [], labels: {} },
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } },
            },
          },
        },
      ],
    },
  };
  const lenient = staticPodReader({ source: 'file', nodeName: 'n', references: 'allow' });
  const [pod] = lenient(Buffer.from(JSON.stringify(manifest))).pods;
  assert.deepEqual(
    pod?.faults.map(({ field }) => field),
    [
      'spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.finalizers',
      'spec.ephemeralContainers[0].ports',
      'spec.ephemeralContainers[0].resources',
      'spec.ephemeralContainers',
    ],
  );
});
