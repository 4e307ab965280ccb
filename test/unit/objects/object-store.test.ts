import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defer, finalize, NEVER, throwError } from 'rxjs';
import type { Service } from '../../../src/base/service.ts';
import { isNotFound } from '../../../src/model/api-error.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import { type ChangeDetectionStrategy, objectStore } from '../../../src/objects/object-store.ts';
import type { WatchedObject, WatchTarget } from '../../../src/ports/kube-api.ts';
import type { ObjectStore } from '../../../src/ports/object-store.ts';
import { aPod } from '../../builders/a-pod.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { FakeKubeApi, refusals } from '../../fakes/fake-kube-api.ts';

const path = '/api/v1/namespaces/default/secrets/login';
const reference = { kind: 'Secret', namespace: 'default', name: 'login' } as const;
const signal = AbortSignal.timeout(5_000);
const aUser = (name: string) => aPod(name, { volumes: [{ name: 'v', secret: { secretName: 'login' } }] });

class Stage {
  readonly api = new FakeKubeApi();
  readonly clock = new FakeClock();
  /** Watches that are open. */
  readonly open: WatchTarget[] = [];
  readonly changed: PodUid[] = [];
  readonly store: ObjectStore & Service;

  constructor(strategy: ChangeDetectionStrategy) {
    const clients: Parameters<typeof objectStore>[1]['clients'] = {
      main: this.api,
      informer: <T extends WatchedObject>(target: WatchTarget) =>
        defer(() => {
          this.open.push(target);
          return this.api.informer<T>(target);
        }).pipe(finalize(() => this.open.splice(this.open.indexOf(target), 1))),
    };
    this.store = objectStore(strategy, { clients, clock: this.clock });
    this.store.changes.subscribe((uid) => this.changed.push(uid));
  }

  put(password: string, more: object = {}): void {
    this.api.put(path, { metadata: { name: 'login' }, data: { password }, ...more });
  }

  async password(): Promise<string | undefined> {
    return (await this.store.get(reference, signal)).data?.['password'];
  }
}

test('Watch: one watch for each object, for as long as a pod refers to it', async () => {
  const { store, open, api } = new Stage('Watch');
  store.register(aUser('a'));
  store.register(aUser('b'));
  assert.deepEqual(open, [{ path: '/api/v1/namespaces/default/secrets', fieldSelector: 'metadata.name=login' }]);
  store.unregister('uid-a' as PodUid);
  assert.equal(open.length, 1);
  store.register(aPod('b', { volumes: [{ name: 'v', configMap: { name: 'settings' } }] }));
  assert.deepEqual(
    open.map((target) => target.path),
    ['/api/v1/namespaces/default/configmaps'],
  );
  store.unregister('uid-b' as PodUid);
  assert.deepEqual(open, []);
  assert.deepEqual(api.requests, []);
});

test('Watch: the pods that refer to an object are told when it appears, changes and goes', async () => {
  const stage = new Stage('Watch');
  stage.store.register(aUser('a'));
  await assert.rejects(
    stage.password(),
    (error) => isNotFound(error) && error instanceof Error && error.message === 'secret "login" not found',
  );
  stage.changed.length = 0;
  stage.put('b25l');
  assert.equal(await stage.password(), 'b25l');
  stage.put('dHdv');
  assert.equal(await stage.password(), 'dHdv');
  stage.api.remove(path);
  await assert.rejects(stage.password(), isNotFound);
  assert.deepEqual(stage.changed, ['uid-a', 'uid-a', 'uid-a']);
  stage.store.unregister('uid-a' as PodUid);
});

test('Watch: an object that is immutable is not watched once it is there', async () => {
  const stage = new Stage('Watch');
  stage.store.register(aUser('a'));
  stage.put('b25l', { immutable: true });
  await Promise.resolve();
  assert.deepEqual(stage.open, []);
  assert.equal(await stage.password(), 'b25l');
});

test('Watch: nothing is watched after the end', async () => {
  const { store, open } = new Stage('Watch');
  const stop = new AbortController();
  const done = store.run(stop.signal);
  store.register(aUser('a'));
  stop.abort();
  await done;
  assert.deepEqual(open, []);
});

test('Watch: an object that no list has told of holds its pod for some seconds only', async () => {
  const clock = new FakeClock();
  const store = objectStore('Watch', { clients: { main: new FakeKubeApi(), informer: () => NEVER }, clock });
  store.register(aUser('a'));
  const refused = assert.rejects(store.get(reference, signal), {
    message: 'failed to sync secret cache: timed out waiting for the condition',
  });
  await clock.advance(5_000);
  await refused;
});

test('Watch: a watch that fails takes its service down', async () => {
  const informer = () => throwError(() => new Error('broken'));
  const store = objectStore('Watch', { clients: { main: new FakeKubeApi(), informer }, clock: new FakeClock() });
  const running = store.run(signal);
  store.register(aUser('a'));
  await assert.rejects(running, { message: 'broken' });
});

test('Cache: an object is read again after a minute, or when another pod comes to use it', async () => {
  const stage = new Stage('Cache');
  stage.put('b25l');
  stage.store.register(aUser('a'));
  assert.equal(await stage.password(), 'b25l');
  stage.put('dHdv');
  assert.equal(await stage.password(), 'b25l');
  stage.store.register(aUser('b'));
  assert.equal(await stage.password(), 'dHdv');
  stage.put('dGhyZWU=');
  await stage.clock.advance(60_000);
  assert.equal(await stage.password(), 'dGhyZWU=');
  assert.equal(stage.api.requests.length, 3);
});

test('Cache: what was read before serves while the server cannot be asked', async () => {
  const stage = new Stage('Cache');
  stage.put('b25l');
  stage.store.register(aUser('a'));
  assert.equal(await stage.password(), 'b25l');
  await stage.clock.advance(60_000);
  stage.api.refuse('GET', '/login', refusals.internal());
  assert.equal(await stage.password(), 'b25l');
});

test('Get: an object is read each time', async () => {
  const stage = new Stage('Get');
  stage.store.register(aUser('a'));
  await assert.rejects(stage.password(), isNotFound);
  stage.put('b25l');
  assert.equal(await stage.password(), 'b25l');
  assert.equal(stage.api.requests.length, 2);
});
