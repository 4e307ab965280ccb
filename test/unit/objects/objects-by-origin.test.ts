import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMPTY } from 'rxjs';
import { objectsByOrigin } from '../../../src/objects/objects-by-origin.ts';
import { ApiError } from '../../../src/model/api-error.ts';
import type { ObjectStore } from '../../../src/ports/object-store.ts';
import { aPod } from '../../builders/a-pod.ts';

const stay = new AbortController().signal;
const config = (name: string) => ({ kind: 'ConfigMap', namespace: 'default', name }) as const;

/** Says where each object came from. */
function storeOf(origin: string, has: readonly string[], registered: string[]): ObjectStore {
  return {
    get: async ({ name }) => {
      if (!has.includes(name)) throw new ApiError(404, 'NotFound', `${name} is not in ${origin}`);
      return { metadata: { name, uid: origin, resourceVersion: '1' } };
    },
    register: () => void registered.push(origin),
    unregister: () => {},
    changes: EMPTY,
  };
}

const staticPod = aPod('static', {}, { annotations: { 'kubernetes.io/config.source': 'file' } });
const apiPod = aPod('api', {}, { annotations: { 'kubernetes.io/config.source': 'api' } });

for (const [what, shared, expected] of [
  ['nothing else', false, ['manifests', 'one is not in manifests']],
  ['what else the API server has, without PreventStaticPodAPIReferences', true, ['manifests', 'API']],
] as const)
  test(`static pods have the objects of their directory, and ${what}`, async () => {
    const registered: string[] = [];
    const objects = objectsByOrigin(storeOf('API', ['one', 'both'], registered), storeOf('manifests', ['both'], registered), shared);
    const origin = (name: string): Promise<string> =>
      objects
        .for(staticPod)
        .get(config(name), stay)
        .then(({ metadata }) => metadata.uid)
        .catch((error: unknown) => (error instanceof Error ? error.message : ''));
    assert.deepEqual([await origin('both'), await origin('one')], expected);
    objects.register(staticPod);
    assert.deepEqual(registered, shared ? ['manifests', 'API'] : ['manifests']);
    assert.equal((await objects.for(apiPod).get(config('both'), stay)).metadata.uid, 'API');
  });
