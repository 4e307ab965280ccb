import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONFIG_SOURCE_ANNOTATION } from '../../../src/model/config-annotations.ts';
import type { ManifestObject } from '../../../src/model/manifest-object.ts';
import { capability } from '../../../src/objects/capability.ts';
import type { PodObjects } from '../../../src/ports/pod-objects.ts';
import { aPod } from '../../builders/a-pod.ts';
import { nodeUnderTest, runServices } from '../../builders/node-parts.ts';

const { signal } = new AbortController();
const web = aPod(
  'web',
  { volumes: [{ name: 'v', configMap: { name: 'settings' } }] },
  { annotations: { [CONFIG_SOURCE_ANNOTATION]: 'file' } },
);
const { uid } = web.metadata;
const settings = (color: string): ManifestObject => ({
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace: 'default', uid: 'u', resourceVersion: color },
  data: { color },
});

test('a pod that was prepared is woken when an object of it changes, until it is torn down or released', async () => {
  const { node, woken } = nodeUnderTest();
  const { pod, services } = capability(node);
  const running = runServices(services);
  node.objects.declare([settings('red')]);
  assert.deepEqual(woken, []);
  assert.equal(pod?.isPrepared?.(web), false);
  await pod.prepare?.(web, signal);
  assert.equal(pod.isPrepared(web), true);
  node.objects.declare([settings('blue')]);
  assert.deepEqual(woken, [`${uid} object changed`]);
  await pod?.tearDown?.(uid, signal);
  assert.equal(pod?.isPrepared?.(web), false);
  node.objects.declare([settings('green')]);
  assert.equal(woken.length, 1);
  await pod?.prepare?.(web, signal);
  await pod?.release?.(uid, signal);
  node.objects.declare([]);
  assert.equal(woken.length, 1);
  await running.stop();
});

test('the tokens of a pod are forgotten with it', async () => {
  const { node } = nodeUnderTest();
  const forgotten: string[] = [];
  const objects: PodObjects = { ...node.objects, tokens: { ...node.objects.tokens, forget: (which) => forgotten.push(which) } };
  const { pod } = capability({ ...node, objects });
  await pod?.tearDown?.(uid, signal);
  await pod?.release?.(uid, signal);
  assert.deepEqual(forgotten, [uid, uid]);
});

test('the services of the objects run with it', () => {
  const { node } = nodeUnderTest();
  const watches = { name: 'objects', stage: 'credentials', run: async () => {} } as const;
  const { services } = capability({ ...node, objects: { ...node.objects, services: [watches] } });
  assert.deepEqual(
    services?.map(({ name, stage }) => `${stage}: ${name}`),
    ['credentials: objects', 'before pods: object changes'],
  );
});
