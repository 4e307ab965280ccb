import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAlreadyExists, isConflict, isNotFound } from '../../../src/model/api-error.ts';
import type { ApiRequest, ResourceEvent, WatchedObject } from '../../../src/ports/kube-api.ts';
import { FakeKubeApi, refusals, type StoredObject } from '../../fakes/fake-kube-api.ts';

const never = new AbortController().signal;
const pods = '/api/v1/namespaces/default/pods';
const aPod = { metadata: { name: 'web', namespace: 'default' }, spec: { nodeName: 'n1', terminationGracePeriodSeconds: 5 } };

function server(): { api: FakeKubeApi; send: (request: ApiRequest) => Promise<StoredObject> } {
  const api = new FakeKubeApi();
  return { api, send: (request) => api.request<StoredObject>(request, never) };
}

test('what is created can be read, and not created again', async () => {
  const { send } = server();
  const made = await send({ method: 'POST', path: pods, body: aPod });
  assert.equal(made.kind, 'Pod');
  assert.ok(made.metadata.uid && made.metadata.resourceVersion);
  assert.deepEqual(await send({ method: 'GET', path: `${pods}/web` }), made);
  await assert.rejects(send({ method: 'POST', path: pods, body: aPod }), isAlreadyExists);
  await assert.rejects(send({ method: 'GET', path: `${pods}/other` }), isNotFound);
});

test('an update of an old version is a conflict; one that changes nothing makes no new version', async () => {
  const { send } = server();
  const first = await send({ method: 'POST', path: '/api/v1/nodes', body: { metadata: { name: 'n1' } } });
  const second = await send({ method: 'PUT', path: '/api/v1/nodes/n1', body: { ...first, spec: { unschedulable: true } } });
  assert.notEqual(second.metadata.resourceVersion, first.metadata.resourceVersion);
  await assert.rejects(send({ method: 'PUT', path: '/api/v1/nodes/n1', body: first }), isConflict);
  const third = await send({ method: 'PUT', path: '/api/v1/nodes/n1', body: second });
  assert.equal(third.metadata.resourceVersion, second.metadata.resourceVersion);
});

test('status goes through its own door only, under a UID precondition', async () => {
  const { send } = server();
  const { metadata } = await send({ method: 'POST', path: pods, body: aPod });
  const contentType = 'application/strategic-merge-patch+json';
  const patch = { metadata: { uid: metadata.uid }, spec: { nodeName: 'n2' }, status: { phase: 'Running' } };
  const patched = await send({ method: 'PATCH', path: `${pods}/web/status`, contentType, body: patch });
  assert.deepEqual([patched['spec'], patched['status']], [aPod.spec, { phase: 'Running' }]);
  const other = { metadata: { uid: 'other' }, status: { phase: 'Failed' } };
  await assert.rejects(send({ method: 'PATCH', path: `${pods}/web/status`, contentType, body: other }), isConflict);
  const viaMain = await send({
    method: 'PATCH',
    path: `${pods}/web`,
    contentType: 'application/merge-patch+json',
    body: { status: { phase: 'Failed' } },
  });
  assert.deepEqual(viaMain['status'], { phase: 'Running' });
});

test('a pod on a node is deleted gracefully, then for good, and only the one meant', async () => {
  const { api, send } = server();
  const { metadata } = await send({ method: 'POST', path: pods, body: aPod });
  const marked = await send({ method: 'DELETE', path: `${pods}/web` });
  assert.equal(marked.metadata['deletionTimestamp'], '2021-02-03T04:05:11Z');
  assert.equal(marked.metadata['deletionGracePeriodSeconds'], 5);
  const force = (uid: string): ApiRequest => ({
    method: 'DELETE',
    path: `${pods}/web`,
    body: { gracePeriodSeconds: 0, preconditions: { uid } },
  });
  await assert.rejects(send(force('other')), isConflict);
  await send(force(metadata.uid));
  assert.equal(api.stored(`${pods}/web`), undefined);
});

test('a finalizer holds a deleted object until it goes', async () => {
  const { api, send } = server();
  await send({ method: 'POST', path: pods, body: { ...aPod, metadata: { ...aPod.metadata, finalizers: ['x/y'] } } });
  await send({ method: 'DELETE', path: `${pods}/web`, body: { gracePeriodSeconds: 0 } });
  assert.ok(api.stored(`${pods}/web`)?.metadata['deletionTimestamp']);
  await send({
    method: 'PATCH',
    path: `${pods}/web`,
    contentType: 'application/merge-patch+json',
    body: { metadata: { finalizers: null } },
  });
  assert.equal(api.stored(`${pods}/web`), undefined);
});

test('informers tell the set, then each change in it', async () => {
  const { api, send } = server();
  await send({ method: 'POST', path: pods, body: aPod });
  const told: string[] = [];
  const tell = (event: ResourceEvent<WatchedObject>): unknown =>
    told.push(
      event.kind === 'reset'
        ? `reset ${event.items.map(({ metadata }) => metadata.name).join()}`
        : `${event.kind} ${event.item.metadata.name}`,
    );
  const subscription = api.informer({ path: '/api/v1/pods', fieldSelector: 'spec.nodeName=n1' }).subscribe(tell);
  api.put(`${pods}/db`, { spec: { nodeName: 'n1' } });
  api.put(`${pods}/far`, { spec: { nodeName: 'n2' } });
  api.remove(`${pods}/web`);
  subscription.unsubscribe();
  assert.deepEqual(told, ['reset web', 'put db', 'drop web']);
});

test('refusals on order, then the store again; an aborted request is not sent', async () => {
  const { api, send } = server();
  api.refuse('POST', '/pods', refusals.internal(), 2);
  for (const _ of [1, 2]) await assert.rejects(send({ method: 'POST', path: pods, body: aPod }), { status: 500 });
  await send({ method: 'POST', path: pods, body: aPod });
  await assert.rejects(api.door('events').request({ method: 'GET', path: pods }, AbortSignal.abort(new Error('stop'))), {
    message: 'stop',
  });
  assert.equal(api.requests.length, 3);
});
