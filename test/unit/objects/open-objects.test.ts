import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONFIG_SOURCE_ANNOTATION } from '../../../src/model/config-annotations.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import { openObjects } from '../../../src/objects/open-objects.ts';
import type { PodObjects } from '../../../src/ports/pod-objects.ts';
import { aPod } from '../../builders/a-pod.ts';
import { someOptions } from '../../builders/some-options.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { FakeKubeApi } from '../../fakes/fake-kube-api.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const { signal } = new AbortController();
const secret = { kind: 'Secret', namespace: 'default', name: 'login' } as const;
const volumes = [{ name: 'v', secret: { secretName: 'login' } }];
const ofApi = aPod('of-api', { volumes });
const ofManifest = aPod('static', { volumes }, { annotations: { [CONFIG_SOURCE_ANNOTATION]: 'file' } });

function opened(api: FakeKubeApi, exists: boolean): PodObjects {
  const clients = { main: api, events: api, heartbeat: api, reviews: api, informer: api.informer };
  return openObjects(someOptions(), { cluster: { exists, clients }, clock: new FakeClock(), log: new RecordingLogger(), random: () => 0 });
}

test('pods of the API server read its objects, static pods those of the manifest directory', async () => {
  const api = new FakeKubeApi();
  const objects = opened(api, true);
  api.put('/api/v1/namespaces/default/secrets/login', { metadata: { name: 'login' }, data: { from: 'api' } });
  objects.declare([
    {
      kind: 'Secret',
      metadata: { name: 'login', namespace: 'default', uid: 'u', resourceVersion: '1' },
      type: 'Opaque',
      data: { from: 'manifest' },
    },
  ]);
  const read = async (pod: typeof ofApi): Promise<unknown> => {
    objects.register(pod);
    return (await objects.for(pod).get(secret, signal)).data;
  };
  assert.deepEqual(await read(ofApi), { from: 'api' });
  assert.deepEqual(await read(ofManifest), { from: 'manifest' });
  objects.unregister('uid-of-api' as PodUid);
});

test('what keeps the objects of an API server up to date runs before everything else', () => {
  const { services } = opened(new FakeKubeApi(), true);
  assert.deepEqual(
    services.map(({ name, stage }) => [name, stage]),
    [
      ['services', 'credentials'],
      ['objects', 'credentials'],
    ],
  );
});

test('without an API server its pods learn that there is none', async () => {
  const objects = opened(new FakeKubeApi(), false);
  assert.deepEqual(objects.services, []);
  assert.deepEqual(await objects.servicesFor(ofApi, signal), []);
  await assert.rejects(objects.for(ofApi).get(secret, signal), { message: 'secret "login" cannot be read without an API server' });
  await assert.rejects(objects.claims.claim('default', 'data', signal), { message: 'there is no API server' });
  await assert.rejects(objects.serviceAccount('default', 'app', signal), { message: 'there is no API server' });
  await assert.rejects(objects.tokens.get(ofApi, { audience: '', expirationSeconds: 600 }, signal), {
    message: 'failed to fetch token: there is no API server',
  });
});
