import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, describe, test } from 'node:test';
import { ReplaySubject, type Subscription } from 'rxjs';
import { systemClock } from '../../src/base/clock.ts';
import { firstOf } from '../../src/base/first-of.ts';
import { checkAccess } from '../../src/cluster/kube/check-access.ts';
import type { OwnedKubeClients } from '../../src/cluster/kube/kube-clients.ts';
import type { ResourceEvent, WatchedObject } from '../../src/ports/kube-api.ts';
import { aCa } from '../builders/a-pki.ts';
import { accessOf, clientsFor } from '../builders/clients-under-test.ts';
import { controlPlane, kubeconfigOf, kubectl } from '../builders/cluster-under-test.ts';
import { RecordingLogger } from '../fakes/recording-logger.ts';
import { TcpProxy } from '../fakes/tcp-proxy.ts';

const namespace = `informer-${randomUUID().slice(0, 8)}`;
const path = `/api/v1/namespaces/${namespace}/secrets`;
const never = new AbortController().signal;
const clock = systemClock;
/** Those of the present test. */
const followers: Follower[] = [];

/** Follows the namespace's secrets of one name over a proxy of its own, in the agent's own settings. */
class Follower {
  readonly log = new RecordingLogger();
  readonly clients: OwnedKubeClients;
  readonly proxy: TcpProxy;
  readonly name: string;
  readonly told: ResourceEvent<WatchedObject>[] = [];
  readonly #news = new ReplaySubject<void>(1);
  #subscription: Subscription | undefined;

  private constructor(clients: OwnedKubeClients, proxy: TcpProxy, name: string) {
    this.clients = clients;
    this.proxy = proxy;
    this.name = name;
  }

  static async start(name: string): Promise<Follower> {
    const log = new RecordingLogger();
    const access = await accessOf(kubeconfigOf('admin'), log);
    const { hostname, port } = new URL(access.server);
    const proxy = await TcpProxy.start({ host: hostname, port: Number(port) });
    const clients = clientsFor({ ...access, server: `https://127.0.0.1:${proxy.port}` }, { log });
    const follower = new Follower(clients, proxy, name);
    followers.push(follower);
    follower.#subscription = clients.informer({ path, fieldSelector: `metadata.name=${name}` }).subscribe((event) => {
      follower.told.push(event);
      follower.#news.next();
    });
    return follower;
  }

  get kinds(): string {
    return this.told.map(({ kind }) => kind).join(' ');
  }

  /** Resolves once as many events were told. */
  async until(count: number): Promise<void> {
    while (this.told.length < count) await firstOf(this.#newsAfter(this.told.length), never);
  }

  #newsAfter(seen: number): ReplaySubject<void> {
    const next = new ReplaySubject<void>(1);
    const subscription = this.#news.subscribe(() => {
      if (this.told.length <= seen) return;
      next.next();
      queueMicrotask(() => subscription.unsubscribe());
    });
    return next;
  }

  async stop(): Promise<void> {
    this.#subscription?.unsubscribe();
    await this.clients.close();
    await this.proxy.stop();
  }
}

const create = (name: string): Promise<string> => kubectl('create', 'secret', 'generic', name, '-n', namespace, '--from-literal=a=1');
const label = (name: string, value: string): Promise<string> =>
  kubectl('label', 'secret', name, '-n', namespace, '--overwrite', `v=${value}`);
const remove = (name: string): Promise<string> => kubectl('delete', 'secret', name, '-n', namespace);
const uidsOf = ({ told }: Follower): readonly string[] =>
  told.flatMap((event) => (event.kind === 'reset' ? event.items.map(({ metadata }) => metadata.uid) : [event.item.metadata.uid]));

before(() => kubectl('create', 'namespace', namespace));
afterEach(async () => {
  await Promise.all(followers.splice(0).map((follower) => follower.stop()));
});
after(() => kubectl('delete', 'namespace', namespace, '--wait=false'));

test('one object is followed from its making to its end', async () => {
  const follower = await Follower.start('followed');
  await follower.until(1);
  await create('other');
  await create('followed');
  await label('followed', 'x');
  await remove('followed');
  await follower.until(4);
  assert.equal(follower.kinds, 'reset put put drop');
  assert.equal(new Set(uidsOf(follower)).size, 1);
});

test('an API server that is stopped and started loses and repeats nothing, and is heard within seconds', async () => {
  const follower = await Follower.start('restarted');
  await create('restarted');
  await follower.until(2);
  await controlPlane('stop', 'apiserver');
  await controlPlane('start', 'apiserver');
  await label('restarted', 'x');
  const startedAtMs = performance.now();
  // Somebody speaks to the server now and then, as heartbeats do.
  await follower.clients.heartbeat.request({ method: 'GET', path: `${path}/restarted` }, never);
  await follower.until(3);
  // A server that has just started may remember nothing from before: then everything is listed anew.
  assert.match(follower.kinds, /^reset put (put|reset|reset put)$/);
  assert.equal(new Set(uidsOf(follower)).size, 1);
  // By itself it would wait for up to half a minute.
  assert(performance.now() - startedAtMs < 10_000, 'the heartbeat’s answer wakes the watch');
});

test('what was compacted away meanwhile is listed anew: made again, it is another object', async () => {
  const follower = await Follower.start('again');
  await create('again');
  await follower.until(2);
  follower.proxy.block();
  await remove('again');
  await create('again');
  await controlPlane('compact');
  await controlPlane('stop', 'apiserver');
  await controlPlane('start', 'apiserver');
  await label('again', 'x');
  follower.proxy.unblock();
  await follower.until(3);
  assert.equal(follower.kinds, 'reset put reset');
  assert.equal(new Set(uidsOf(follower)).size, 2);
  await label('again', 'y');
  await follower.until(4);
  assert.equal(follower.kinds, 'reset put reset put');
});

test('a connection that goes silent without closing is noticed and dialled again within 45 s', async () => {
  const follower = await Follower.start('silent');
  await create('silent');
  await follower.until(2);
  follower.proxy.silence();
  const silentAtMs = performance.now();
  await label('silent', 'x');
  await follower.until(3);
  const tookMs = performance.now() - silentAtMs;
  assert(tookMs < 45_000, `${tookMs} ms`);
  assert.equal(follower.kinds, 'reset put put');
});

describe('the first question to the server', () => {
  const ask = async (user: 'admin' | 'node' | 'bootstrap', caPem?: string): Promise<void> => {
    const access = await accessOf(kubeconfigOf(user), new RecordingLogger());
    const asked = caPem === undefined ? access : { ...access, caPem };
    const clients = clientsFor(asked, { log: new RecordingLogger() });
    try {
      await checkAccess({ api: clients.main, access: asked, nodeName: 'not-there', clock }, never);
    } finally {
      await clients.close();
    }
  };

  test('is answered for a node that does not exist yet', () => ask('admin'));

  test('names the user whom the server refuses, and its answer', async () => {
    await assert.rejects(ask('bootstrap'), (error) => {
      assert.match(
        String(error),
        /kubeconfig .*bootstrap\.kubeconfig, context ".*", user "bootstrap": the API server https:.* refuses \(403 Forbidden\): nodes "not-there" is forbidden: User "system:bootstrap:/,
      );
      return true;
    });
  });

  test('tells a CA that is not the server’s', async () => {
    await assert.rejects(ask('admin', aCa('another').pem), {
      name: 'KubeconfigError',
      fault: 'untrusted',
      message: /not signed by the CA .*CN=another/,
    });
  });
});
