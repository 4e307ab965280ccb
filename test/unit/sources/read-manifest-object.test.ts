import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { ManifestObject } from '../../../src/model/manifest-object.ts';
import { formatManifestFault } from '../../../src/model/manifest-fault.ts';
import { ManifestDirectory } from '../../../src/sources/manifest-directory.ts';
import { manifestTools } from '../../../src/sources/manifest-tools.ts';
import { staticPodReader } from '../../../src/sources/read-static-pods.ts';
import { aManifest } from '../../builders/a-manifest.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { silentHappenings } from '../../fakes/silent-happenings.ts';

const read = staticPodReader({ source: 'file', nodeName: 'n1', references: 'manifests', objects: true });
const objectsOf = (text: string): readonly (ManifestObject | undefined)[] => read(Buffer.from(text)).objects.map(({ object }) => object);
const faultsOf = (text: string): readonly string[] => {
  const { objects, faults } = read(Buffer.from(text));
  return [...faults, ...objects.flatMap((each) => each.faults)].map((fault) => formatManifestFault('f', fault));
};
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('a ConfigMap and a Secret are read as the API server would keep them', () => {
  const [map] = objectsOf('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: "1"}\nbinaryData: {b: AQI=}\nimmutable: true\n');
  assert.deepEqual(
    [map?.kind, map?.metadata.namespace, map?.data, map?.binaryData, map?.immutable],
    ['ConfigMap', 'default', { a: '1' }, { b: 'AQI=' }, true],
  );
  const [secret] = objectsOf(
    `apiVersion: v1\nkind: Secret\ntype: Opaque\nmetadata: {name: s, namespace: apps}\ndata: {a: ${base64('old')}, b: ${base64('b')}}\nstringData: {a: new}\n`,
  );
  assert.deepEqual([secret?.metadata.namespace, secret?.data], ['apps', { a: base64('new'), b: base64('b') }]);
});

test('a List as kubectl prints it holds several', () => {
  const item = (kind: string, name: string): object => ({ apiVersion: 'v1', kind, metadata: { name }, data: {} });
  const list = (...items: object[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  const found = objectsOf(list(item('ConfigMap', 'm'), item('Secret', 's')));
  assert.deepEqual(
    found.map((object) => [object?.kind, object?.metadata.name]),
    [
      ['ConfigMap', 'm'],
      ['Secret', 's'],
    ],
  );
  assert.deepEqual(faultsOf(list(item('ConfigMap', 'm'), item('Service', 's'))), [
    'f:1:142 items[1].kind: expected ConfigMap or Secret, found Service',
  ]);
});

test('each fault is told with its place, and no word of what a Secret holds', () => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n';
  const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n';
  for (const [text, fault] of [
    [`${secret}stringData:\n  password: 12345678\n`, 'f:5:13 stringData[password]: expected a string, found a number (put it in quotes)'],
    [`${secret}stringData:\n  password: [hunter2]\n`, 'f:5:13 stringData[password]: expected a string, found a list'],
    [`${secret}data:\n  password: hunter2\n`, 'f:5:13 data[password]: Invalid value: must be base64; plain text goes into stringData'],
    [`${secret}stringData: hunter2\n`, 'f:4:13 stringData: expected a map, found a string'],
    [`${secret}stringData:\n  password: *hunter2\n`, 'f:5:13 unknown anchor this'],
    [`${secret}stringData:\n  password: !!int hunter2\n`, 'f:5:19 cannot read this as !!int'],
    [`${map}data:\n  level: 3\n`, 'f:5:10 data[level]: expected a string, found number 3 (put it in quotes)'],
    [`${map}data:\n  ..x: a\n`, `f:5:8 data[..x]: Invalid value: "..x": must not start with '..'`],
    [`${map}data:\n  k: a\nbinaryData:\n  k: AQI=\n`, 'f:7:6 binaryData[k]: Duplicate value: "k"'],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n', 'f:3:1 metadata.name: Required value: name or generateName is required'],
    ['apiVersion: v1\nkind: Service\n', 'f:2:7 kind: expected Pod, ConfigMap, Secret or List, found Service'],
  ] as const) {
    assert.deepEqual(faultsOf(text), [fault]);
    assert.doesNotMatch(faultsOf(text).join(), /hunter2|12345678/);
  }
});

test('a pod may refer to what a manifest directory can hold, and to nothing else', () => {
  const { pods } = read(
    Buffer.from(
      `${aManifest('web')}    envFrom: [{configMapRef: {name: m}}, {secretRef: {name: s}}]
  imagePullSecrets: [{name: s}]
  volumes:
  - {name: a, configMap: {name: m}}
  - {name: b, projected: {sources: [{secret: {name: s}}, {serviceAccountToken: {path: t}}]}}
  - {name: c, persistentVolumeClaim: {claimName: c}}
`,
    ),
  );
  assert.deepEqual([...new Set(pods[0]?.faults.map(({ field }) => field))].sort(), [
    'spec.volumes[1].projected.sources[1].serviceAccountToken',
    'spec.volumes[2].persistentVolumeClaim',
  ]);
});

test('rxlet validate takes such files, and names them', () => {
  const tools = manifestTools({ nodeName: 'n1' });
  const { pods, objects, faults } = tools.check(Buffer.from('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n'));
  assert.deepEqual([pods, objects, faults], [[], ['ConfigMap default/m'], []]);
});

async function aDirectory(t: TestContext) {
  const path = await mkdtemp(join(tmpdir(), 'rxlet-objects-'));
  t.after(() => rm(path, { recursive: true }));
  const log = new RecordingLogger();
  let nowMs = 0;
  const directory = new ManifestDirectory({
    path,
    read: async (manifest) => read(manifest),
    settleMs: 100,
    clock: { monotonicMs: () => nowMs },
    log,
    tell: silentHappenings,
  });
  const write = async (name: string, text: string): Promise<void> => {
    await writeFile(join(path, '.draft'), text);
    await rename(join(path, '.draft'), join(path, name));
  };
  const look = async () => {
    await directory.scan([undefined]);
    nowMs += 200;
    return directory.scan([undefined]);
  };
  return { path, log, write, look };
}
const aConfigMap = (value: string, name = 'm'): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {k: ${value}}\n`;

test('a file that no longer makes an object keeps the last one; one that is gone takes it with it', async (t) => {
  const { path, log, write, look } = await aDirectory(t);
  await write('m.yaml', aConfigMap('a'));
  const first = await look();
  assert.deepEqual([first.pods, first.objects.map(({ data }) => data)], [[], [{ k: 'a' }]]);
  await write('m.yaml', aConfigMap('[]'));
  assert.deepEqual((await look()).objects, first.objects);
  assert.match(JSON.stringify(log.lines), /manifest refused.*data\[k\].*ConfigMap default\/m/);
  await write('m.yaml', aConfigMap('b'));
  assert.deepEqual(
    (await look()).objects.map(({ data }) => data),
    [{ k: 'b' }],
  );
  await rm(join(path, 'm.yaml'));
  assert.deepEqual((await look()).objects, []);
});

test('of two files that declare one object the first by name counts, and that is said once', async (t) => {
  const { log, write, look } = await aDirectory(t);
  await write('b.yaml', aConfigMap('b'));
  await write('a.yaml', aConfigMap('a'));
  for (const _ of [1, 2])
    assert.deepEqual(
      (await look()).objects.map(({ data }) => data),
      [{ k: 'a' }],
    );
  assert.equal(JSON.stringify(log.lines).split('two manifests declare one object').length, 2);
});
