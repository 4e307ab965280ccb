import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatManifestFault } from '../../../src/model/manifest-fault.ts';
import { manifestDecoder } from '../../../src/sources/decode-manifest.ts';
import { MAX_MANIFEST_BYTES } from '../../../src/sources/max-manifest-bytes.ts';
import { aManifest } from '../../builders/a-manifest.ts';

const decode = manifestDecoder();

function faultsOf(text: string | Uint8Array, allowList = false): readonly string[] {
  const { pods, faults } = decode(Buffer.from(text), { allowList });
  return [...faults, ...pods.flatMap((pod) => pod.faults)].map((fault) => formatManifestFault('web.yaml', fault));
}
const pod = (...lines: readonly string[]): string => `apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n${lines.join('\n')}\n`;

test('a fault does not repeat what may be secret', () => {
  const decode = manifestDecoder();
  const container = (fields: string): string =>
    `apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: b, ${fields}}]}\n`;
  const probe = (value: string): string => container(`livenessProbe: {httpGet: {port: 1, httpHeaders: [{name: a, value: ${value}}]}}`);
  for (const text of [container('env: [{name: A, value: 4711}]'), container('args: [4711]'), container('command: [4711]'), probe('4711')]) {
    const faults = decode(Buffer.from(text)).pods.flatMap(({ faults }) => faults);
    assert.deepEqual(
      faults.map(({ detail }) => detail),
      ['expected a string, found a number (put it in quotes)'],
    );
  }
});

test('every fault is one line with file, line, column, field, what was expected and what was found', () => {
  const cases: readonly (readonly [text: string, fault: string])[] = [
    ['a: [b', 'web.yaml:1:6 Flow sequence in block collection must be sufficiently indented and end with a ]'],
    ['{"kind": }', 'web.yaml:1:10 expected a value, found "}"'],
    ['- a\n', 'web.yaml:1:1 expected a map with apiVersion, kind, metadata and spec, found a list'],
    ['', 'web.yaml:1:1 kind: expected kind: Pod, found an empty document'],
    ['apiVersion: v1\n', 'web.yaml:1:1 kind: expected kind: Pod, found nothing'],
    ['kind: Pod\n', 'web.yaml:1:1 apiVersion: expected apiVersion: v1, found nothing'],
    ['apiVersion: v1\nkind: pod\n', 'web.yaml:2:7 kind: expected Pod, found "pod", which v1 does not have (did you mean "Pod"?)'],
    ['apiVersion: v1\nkind: Secret\n', 'web.yaml:2:7 kind: expected Pod, found Secret'],
    ['apiVersion: apps/v1\nkind: Deployment\n', 'web.yaml:1:13 apiVersion: expected kind Pod of v1, found Deployment of apps/v1'],
    ['apiVersion: 1\nkind: Pod\n', 'web.yaml:1:13 apiVersion: expected a string, found number 1'],
    [pod('  hostname: 007'), 'web.yaml:6:13 spec.hostname: expected a string, found number 007 (put it in quotes)'],
    [pod('  hostNetwork: "true"'), 'web.yaml:6:16 spec.hostNetwork: expected a boolean, found string "true"'],
    [pod('  containers: {}'), 'web.yaml:6:15 spec.containers: expected a list, found a map'],
    [pod('  securityContext: []'), 'web.yaml:6:20 spec.securityContext: expected a map, found a list'],
    [pod('  priority: 1.5'), 'web.yaml:6:13 spec.priority: expected an integer, found number 1.5'],
    [pod('  priority: 2147483648'), 'web.yaml:6:13 spec.priority: expected an integer of 32 bits, found number 2147483648'],
    [pod('  overhead: {cpu: yes}'), 'web.yaml:6:19 spec.overhead[cpu]: expected a quantity such as 500m, 1.5 or 64Mi, found boolean yes'],
    [
      pod('  containers:', '  - livenessProbe:', '      httpGet: {port: 8.5}'),
      'web.yaml:8:23 spec.containers[0].livenessProbe.httpGet.port: expected an integer or a string, found number 8.5',
    ],
    [
      'apiVersion: v1\nkind: Pod\nmetadata: {creationTimestamp: now}\n',
      'web.yaml:3:31 metadata.creationTimestamp: expected a time such as 2006-01-02T15:04:05Z, found string "now"',
    ],
  ];
  for (const [text, fault] of cases) assert.deepEqual(faultsOf(text), [fault]);
});

test('all faults of a pod are told at once', () => {
  assert.equal(faultsOf(pod('  hostname: 1', '  hostNetwork: 1', '  containers: 1')).length, 3);
});

test('unknown fields are dropped with a warning that names the nearest known one', () => {
  const { pods } = decode(Buffer.from(pod('  containers:', '  - name: c', '    imgePullPolicy: Never', '    Image: x')));
  assert.deepEqual(
    pods[0]?.warnings.map((warning) => formatManifestFault('web.yaml', warning)),
    [
      'web.yaml:8:5 spec.containers[0].imgePullPolicy: unknown field, ignored (did you mean "imagePullPolicy"?)',
      'web.yaml:9:5 spec.containers[0].Image: unknown field, ignored (did you mean "image"?)',
    ],
  );
  assert.deepEqual(pods[0]?.pod?.spec?.containers, [{ name: 'c', resources: {} }]);
});

test('the decoded pod is what Go would print of it', () => {
  const text = pod(
    '  hostNetwork: false',
    '  shareProcessNamespace: false',
    '  hostname: ""',
    '  volumes: []',
    '  containers:',
    '  - name: c',
    '    tty: null',
    '    env: [{value: "1"}, null]',
    '    resources: {limits: {cpu: 1000m, memory: 1.5Gi, none: null}}',
    '    livenessProbe: {httpGet: {path: /}}',
  );
  const [decoded] = decode(Buffer.from(text)).pods;
  assert.deepEqual(decoded?.pod, {
    metadata: { name: 'web' },
    spec: {
      shareProcessNamespace: false,
      containers: [
        {
          name: 'c',
          env: [{ name: '', value: '1' }, { name: '' }],
          resources: { limits: { cpu: '1', memory: '1536Mi', none: '0' } },
          livenessProbe: { httpGet: { path: '/', port: 0 } },
        },
      ],
    },
    status: {},
  });
  assert.deepEqual(decoded?.asWritten, [
    'spec.volumes=[]',
    'spec.containers[0].resources.limits[cpu]=1000m',
    'spec.containers[0].resources.limits[memory]=1.5Gi',
  ]);
});

test('an object that Go only points to is not there when it is not written', () => {
  const [decoded] = decode(Buffer.from(pod('  volumes: [{name: v, scaleIO: {gateway: g, system: s}}]'))).pods;
  assert.deepEqual(decoded?.pod?.spec?.volumes, [{ name: 'v', scaleIO: { gateway: 'g', system: 's' } }]);
});

test('a field is located, or else what is nearest to it', () => {
  const [decoded] = decode(
    Buffer.from(pod('  nodeSelector: {a.b/c: "1"}', '  containers:', '  - name: c', '    env:', '    - name: A')),
  ).pods;
  const cases: readonly (readonly [field: string, line: number, column: number])[] = [
    ['metadata.name', 4, 9],
    ['metadata.namespace', 3, 1],
    ['spec', 5, 1],
    ['spec.nodeSelector[a.b/c]', 6, 25],
    ['spec.containers[0].name', 8, 11],
    ['spec.containers[0].image', 8, 5],
    ['spec.containers[0].env[0].name', 10, 13],
    ['spec.containers[0].env[7].name', 9, 5],
    ['status.phase', 1, 1],
  ];
  for (const [field, line, column] of cases) assert.deepEqual(decoded?.locate(field), { line, column }, field);
});

test('a list is taken where it may be one, each pod for itself', () => {
  const item = (name: unknown): unknown => ({ metadata: { name }, spec: { containers: [] } });
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [item('a'), item(5), item('c')] });
  assert.deepEqual(faultsOf(list), ['web.yaml:1:27 kind: expected Pod, found PodList']);
  const { pods } = decode(Buffer.from(list), { allowList: true });
  assert.deepEqual(
    pods.map(({ name, faults }) => [name, faults.length]),
    [
      ['a', 0],
      ['', 1],
      ['c', 0],
    ],
  );
});

test('a list tells its own faults, and an item that is null says nothing of its pod', () => {
  const list = 'apiVersion: v1\nkind: PodList\n';
  assert.deepEqual(faultsOf(`${list}metadata: x\nitems: []\n`, true), ['web.yaml:3:11 metadata: expected a map, found string "x"']);
  assert.deepEqual(decode(Buffer.from(`${list}metadata: {resourceVersion: "1"}\nitems: [null]\n`), { allowList: true }).pods[0]?.pod, {
    metadata: {},
    spec: {},
    status: {},
  });
});

test('letters of any case name the kind: in JSON the last of several counts, in YAML the one that sorts last', () => {
  const json = (...kinds: readonly string[]): string => `{"apiVersion": "v1", ${kinds.join(', ')}}`;
  assert.deepEqual(faultsOf(json('"KIND": "Node"', '"kind": "Pod"')), []);
  assert.match(faultsOf(json('"kind": "Pod"', '"KIND": "Node"')).join(), /found Node$/);
  assert.deepEqual(faultsOf('apiVersion: v1\nkind: Pod\nKIND: Node\n'), []);
  assert.match(faultsOf('KIND: []\napiVersion: v1\nkind: Pod\n').join(), /kind: expected a string, found a list$/);
});

test('size, encoding and nesting are bounded', () => {
  assert.deepEqual(faultsOf(Buffer.alloc(MAX_MANIFEST_BYTES + 1, 'a')), ['web.yaml:1:1 longer than 10485760 bytes']);
  assert.deepEqual(faultsOf(Buffer.from([0x61, 0x3a, 0x20, 0xff])), ['web.yaml:1:4 invalid UTF-8']);
  assert.deepEqual(faultsOf(`{"a":${'['.repeat(100_000)}`), ['web.yaml:1:506 nested more than 500 levels deep']);
});

test('a byte order mark does no harm', () => {
  assert.deepEqual(faultsOf(`\ufeff${aManifest('web')}`), []);
});
