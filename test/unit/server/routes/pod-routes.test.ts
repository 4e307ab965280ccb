import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { podRoutes } from '../../../../src/server/routes/pod-routes.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { aSandbox, anInstance, anObservedPod, exited } from '../../../builders/an-observed-pod.ts';
import { servedPods } from '../../../builders/served-pods.ts';
import { serveRoutes, type ServedRoutes } from '../../../fakes/served-routes.ts';

let served: ServedRoutes | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

const ask = async (path: string): Promise<{ readonly items: readonly unknown[] } & Record<string, unknown>> => {
  const answer = await fetch(`${served?.url}${path}`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/json');
  return (await answer.json()) as { readonly items: readonly unknown[] };
};

test('/pods: what should run, with what the agent knows of it', async () => {
  const known = aPod('known');
  const fresh = aPod('fresh');
  const told = {
    ...aPod('told'),
    status: {
      phase: 'Pending',
      conditions: [
        { type: 'mine/gate', status: 'True' },
        { type: 'Ready', status: 'False' },
      ],
    },
  };
  const statuses = {
    [known.metadata.uid]: { phase: 'Running', podIP: '10.0.0.2' },
    [told.metadata.uid]: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  };
  served = await serveRoutes(podRoutes(servedPods([known, fresh, told], { statuses })));
  const list = await ask('/pods');
  assert.deepEqual(list, {
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: {},
    items: [
      { metadata: known.metadata, spec: known.spec, status: { phase: 'Running', podIP: '10.0.0.2' } },
      { metadata: fresh.metadata, spec: fresh.spec, status: {} },
      {
        metadata: told.metadata,
        spec: told.spec,
        // Conditions of others stay.
        status: {
          phase: 'Running',
          conditions: [
            { type: 'Ready', status: 'True' },
            { type: 'mine/gate', status: 'True' },
          ],
        },
      },
    ],
  });
});

test('/pods of an idle node is an empty list, not null', async () => {
  served = await serveRoutes(podRoutes(servedPods([])));
  assert.deepEqual((await ask('/pods')).items, []);
});

test('/runningpods/: what the engine runs, declared or not', async () => {
  const web = aPod('web', { containers: [aContainer('app'), aContainer('helper')] });
  const dead = aPod('dead');
  const bare = aPod('bare');
  const observed = [
    anObservedPod(web, {
      sandboxes: [aSandbox()],
      containers: [
        anInstance(web, 'app', { attempt: 1, image: 'web:2' }),
        anInstance(web, 'app', { state: exited(1) }),
        anInstance(web, 'helper', { state: exited(0) }),
      ],
    }),
    anObservedPod(dead, { sandboxes: [aSandbox({ ready: false })], containers: [anInstance(dead, 'app', { state: exited(0) })] }),
    anObservedPod(bare, { sandboxes: [aSandbox()] }),
  ];
  served = await serveRoutes(podRoutes(servedPods([], { observed })));
  for (const path of ['/runningpods/', '/runningpods']) {
    assert.deepEqual((await ask(path)).items, [
      { metadata: { name: 'bare', namespace: 'default', uid: 'uid-bare' }, spec: { containers: [] }, status: {} },
      {
        metadata: { name: 'web', namespace: 'default', uid: 'uid-web' },
        spec: { containers: [{ name: 'app', image: 'web:2', resources: {} }] },
        status: {},
      },
    ]);
  }
});
