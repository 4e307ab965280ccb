import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { filter, firstValueFrom, type Observable, ReplaySubject, type Subscription, take, timeout, toArray } from 'rxjs';
import { type Logger, silentLogger } from '../../../src/base/logger.ts';
import type { Pod, PodUid } from '../../../src/model/pod.ts';
import { DockerPods } from '../../builders/docker-pods.ts';
import { dockerUnderTest, testEndpoint } from '../../builders/docker-under-test.ts';
import { UnixSocketProxy } from '../../fakes/unix-socket-proxy.ts';

describe('engine events', () => {
  let proxy: UnixSocketProxy;
  let pods: DockerPods;
  let hints: ReplaySubject<PodUid>;
  let subscription: Subscription;
  let logged: ReplaySubject<string>;
  beforeEach(async () => {
    proxy = await UnixSocketProxy.start(testEndpoint.replace('unix://', ''));
    logged = new ReplaySubject<string>();
    const note = (message: string): void => logged.next(message);
    const log: Logger = { ...silentLogger, warn: note, info: note };
    // Through the proxy only the events: pods themselves are run past it.
    pods = new DockerPods(await dockerUnderTest());
    const through = await dockerUnderTest({ endpoint: `unix://${proxy.path}`, log });
    hints = new ReplaySubject<PodUid>();
    subscription = through.runtime.hints.subscribe(hints);
    subscription.add(() => void through.dispose());
  });
  afterEach(async () => {
    subscription.unsubscribe();
    await pods.clean();
    await proxy.close();
  });
  const of = (pod: Pod): Observable<PodUid> => hints.pipe(filter((uid) => uid === pod.metadata.uid));
  const within = <T>(stream: Observable<T>): Promise<T> => firstValueFrom(stream.pipe(timeout(30_000)));
  /** Events flow once a first one has come through. */
  const flowing = async (): Promise<void> => {
    const pod = pods.pod();
    await pods.runSandbox(pod);
    await within(of(pod));
  };

  test('after a broken connection it goes on with what happened meanwhile', async () => {
    await flowing();
    proxy.cut();
    await within(logged.pipe(filter((message) => message.startsWith('engine events broke off'))));
    const pod = pods.pod();
    await pods.runSandbox(pod);
    proxy.restore();
    assert.equal(await within(of(pod)), pod.metadata.uid);
    await within(logged.pipe(filter((message) => message === 'engine events resumed')));
  });

  test('a long outage is warned of once', async () => {
    await flowing();
    proxy.cut();
    for (let attempt = 0; attempt < 4; attempt++) await proxy.refused();
    proxy.restore();
    const told = await within(logged.pipe(take(2), toArray()));
    assert.deepEqual(told, ['engine events broke off; retrying', 'engine events resumed']);
  });

  test('exec and what is no pod of ours is not told', async () => {
    await flowing();
    const stranger = await pods.create(`rxlet-stranger-${process.pid}`, {});
    await pods.remove(stranger);
    const app = pods.container('app');
    const pod = pods.pod([app]);
    const id = await pods.start(pod, await pods.runSandbox(pod), app);
    await within(of(pod).pipe(take(2), toArray()));
    const before = await count(hints);
    await pods.docker.client.call('exec', 10_000, pods.signal, async (docker) => {
      const exec = await docker.getContainer(id).exec({ Cmd: ['true'] });
      await exec.start({ Detach: true });
    });
    const last = pods.pod();
    await pods.runSandbox(last);
    await within(of(last));
    assert.equal((await count(hints)) - before, 1);
  });

  test('what could not be made is not told', async () => {
    const app = pods.container('app');
    const pod = pods.pod([app]);
    const other = pods.pod();
    const told = new ReplaySubject<PodUid>();
    const own = pods.docker.runtime.hints.subscribe(told);
    const toldOf = ({ metadata }: Pod): Promise<PodUid> => within(told.pipe(filter((uid) => uid === metadata.uid)));
    try {
      const sandbox = await pods.runSandbox(pod);
      await toldOf(pod);
      const before = await count(told);
      const twice = { hostPath: '/tmp', containerPath: '/tmp', readOnly: true };
      await assert.rejects(pods.start(pod, sandbox, app, { mounts: [twice, twice] }), /Duplicate mount point/);
      await pods.runSandbox(other);
      await toldOf(other);
      assert.equal((await count(told)) - before, 1);
    } finally {
      own.unsubscribe();
    }
  });

  test('an unsubscribed stream leaves no connection behind', async () => {
    await flowing();
    assert.ok(proxy.connections > 0);
    subscription.unsubscribe();
    while (proxy.connections > 0) await new Promise((resolve) => setImmediate(resolve));
  });
});

/** How many values the subject has replayed by now. */
async function count(subject: ReplaySubject<PodUid>): Promise<number> {
  let values = 0;
  subject.subscribe(() => values++).unsubscribe();
  return values;
}
