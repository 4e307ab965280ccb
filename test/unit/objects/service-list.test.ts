import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NEVER } from 'rxjs';
import { CONFIG_SOURCE_ANNOTATION } from '../../../src/model/config-annotations.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { ServiceList } from '../../../src/objects/service-list.ts';
import { aPod } from '../../builders/a-pod.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { FakeKubeApi } from '../../fakes/fake-kube-api.ts';

const { signal } = new AbortController();
const ofApi = aPod('of-api');
const ofManifest = aPod('static', {}, { annotations: { [CONFIG_SOURCE_ANNOTATION]: 'file' } });

test('the services are those of the cluster now', async () => {
  const api = new FakeKubeApi();
  const list = new ServiceList({ informer: api.informer, clock: new FakeClock() });
  const namesFor = async (pod: Pod): Promise<unknown> => (await list.for(pod, signal))?.map(({ metadata }) => metadata.name);
  api.put('/api/v1/namespaces/default/services/web', { metadata: { name: 'web' } });
  const stop = new AbortController();
  const waiting = namesFor(ofApi);
  const running = list.run(stop.signal);
  assert.deepEqual(await waiting, ['web']);
  api.put('/api/v1/namespaces/default/services/db', { metadata: { name: 'db' } });
  assert.deepEqual(await namesFor(ofManifest), ['web', 'db']);
  api.remove('/api/v1/namespaces/default/services/web');
  assert.deepEqual(await namesFor(ofApi), ['db']);
  stop.abort();
  await running;
});

test('before the first list a pod of the API server waits for some seconds, a static one for nothing', async () => {
  const clock = new FakeClock();
  const list = new ServiceList({ informer: () => NEVER, clock });
  assert.deepEqual(await list.for(ofManifest, signal), []);
  const waiting = list.for(ofApi, signal);
  const stop = new AbortController();
  const stopped = assert.rejects(list.for(ofApi, stop.signal), { message: 'enough' });
  stop.abort(new Error('enough'));
  await stopped;
  await clock.advance(5_000);
  assert.equal(await waiting, undefined);
  assert.equal(clock.actions.length, 0);
});
