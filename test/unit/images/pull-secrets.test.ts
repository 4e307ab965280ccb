import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pullSecrets } from '../../../src/images/pull-secrets.ts';
import { ApiError } from '../../../src/model/api-error.ts';
import { podReferences } from '../../../src/model/pod-references.ts';
import type { PodSpec } from '../../../src/model/pod.ts';
import type { ReferencedObject } from '../../../src/ports/object-store.ts';
import { aPod } from '../../builders/a-pod.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const never = new AbortController().signal;
const known: Readonly<Record<string, ReferencedObject>> = Object.fromEntries(
  ['a', 'b'].map((name) => [
    name,
    { type: 'kubernetes.io/dockerconfigjson', metadata: { name, uid: name, resourceVersion: '1' }, data: { '.dockerconfigjson': name } },
  ]),
);

function scene(names: readonly (string | undefined)[]) {
  const events: string[] = [];
  const log = new RecordingLogger();
  const read = pullSecrets({
    objectsOf: () => ({
      get: async ({ kind, namespace, name }) => {
        assert.deepEqual([kind, namespace], ['Secret', 'default']);
        const found = known[name];
        if (!found) throw new ApiError(404, 'NotFound', `secret "${name}" not found`);
        return found;
      },
    }),
    events: { record: (_about, type, reason, message) => events.push(`${type} ${reason} ${message}`) },
    log,
  });
  const imagePullSecrets = names.map((name) => (name === undefined ? {} : { name }));
  return { events, lines: log.lines, found: read(aPod('p', { imagePullSecrets }), never) };
}

for (const [names, expected] of [
  [[], []],
  [
    ['b', 'a'],
    ['b', 'a'],
  ],
  [['a', undefined, ''], ['a']],
] as const)
  test(`pull secrets ${JSON.stringify(names)} are read in their order, nameless ones passed over`, async () => {
    const { events, found } = scene(names);
    assert.deepEqual(
      (await found).map(({ data }) => data?.['.dockerconfigjson']),
      expected,
    );
    assert.deepEqual(events, []);
  });

test('secrets that cannot be read are told of in one event, and what is there is used', async () => {
  const { events, lines, found } = scene(['x', 'a', 'y']);
  assert.equal((await found).length, 1);
  assert.deepEqual(events, [
    'Warning FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets (x, y); attempting to pull the image may not succeed.',
  ]);
  assert.equal(lines.length, 2);
});

test('pull secrets are among what a pod refers to, as is what its ephemeral containers name', () => {
  const spec: Partial<PodSpec> = {
    imagePullSecrets: [{ name: 'registry' }, {}],
    ephemeralContainers: [{ name: 'debug', envFrom: [{ secretRef: { name: 'env' } }] }],
  };
  assert.deepEqual(podReferences(aPod('p', spec)), [
    { kind: 'Secret', namespace: 'default', name: 'registry' },
    { kind: 'Secret', namespace: 'default', name: 'env' },
  ]);
});
