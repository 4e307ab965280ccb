import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONFIG_SOURCE_ANNOTATION } from '../../../src/model/config-annotations.ts';
import { isNotFound } from '../../../src/model/api-error.ts';
import type { ManifestObject } from '../../../src/model/manifest-object.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import { DeclaredObjects } from '../../../src/objects/declared-objects.ts';
import { noApi } from '../../../src/objects/api-for-pods.ts';
import { objectsByOrigin } from '../../../src/objects/objects-by-origin.ts';
import { aPod } from '../../builders/a-pod.ts';

const signal = AbortSignal.timeout(5_000);
const reference = { kind: 'ConfigMap', namespace: 'default', name: 'm' } as const;
const anObject = (value: string, name = 'm'): ManifestObject => ({
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', uid: name, resourceVersion: value },
  data: { k: value },
});
const aUser = (name: string, configMap: string) => aPod(name, { volumes: [{ name: 'v', configMap: { name: configMap } }] });

test('the pods that refer to an object are told when it appears, changes and goes, and no others', async () => {
  const store = new DeclaredObjects();
  const told: PodUid[] = [];
  store.changes.subscribe((uid) => told.push(uid));
  store.register(aUser('a', 'm'));
  store.register(aUser('b', 'other'));
  const other = anObject('1', 'other');
  store.declare([anObject('1'), other]);
  assert.deepEqual(told.splice(0), ['uid-a', 'uid-b']);
  assert.deepEqual((await store.get(reference)).data, { k: '1' });
  store.declare([anObject('2'), other]);
  assert.deepEqual(told.splice(0), ['uid-a']);
  assert.deepEqual((await store.get(reference)).data, { k: '2' });
  store.unregister('uid-b' as PodUid);
  store.declare([]);
  assert.deepEqual(told, ['uid-a']);
});

test('what is not there is not found, in words that say where it was looked for', async () => {
  await assert.rejects(new DeclaredObjects().get(reference), (error: Error) => {
    assert.ok(isNotFound(error));
    assert.match(error.message, /^configmap "m" not found: a static pod can refer only to objects of the manifest directory/);
    return true;
  });
});

test('a static pod is served from the manifests alone, any other from the API server alone', async () => {
  const manifests = new DeclaredObjects();
  manifests.declare([anObject('1')]);
  const ofPods = objectsByOrigin(noApi.objects, manifests, false);
  const fromFile = aPod('a', {}, { annotations: { [CONFIG_SOURCE_ANNOTATION]: 'file' } });
  assert.deepEqual((await ofPods.for(fromFile).get(reference, signal)).data, { k: '1' });
  await assert.rejects(ofPods.for(aPod('b')).get(reference, signal), { message: 'configmap "m" cannot be read without an API server' });
});
