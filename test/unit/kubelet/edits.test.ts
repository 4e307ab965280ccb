import assert from 'node:assert/strict';
import { containerHash } from '../../../src/model/container-hash.ts';
import { aPodThat, edited, server, sidecar } from '../../builders/pods-that.ts';
import { scenario } from '../../fakes/scenario.ts';

/** Ten seconds of clean-up before it ends. */
const slowToEnd = (tag: string) =>
  server('app', { command: ['sh', '-c', 'trap "sleep 10; exit 0" TERM; sleep 100000 & wait'], image: `busybox:${tag}` });

scenario('an edited pod: the old one ends, with its grace, before the new one starts', async (it) => {
  const old = aPodThat('web', { containers: [slowToEnd('1')] });
  const successor = edited(old, 'uid-web-2', { containers: [slowToEnd('2')] });
  it.declare(old);
  await it.advance(1000);
  it.declare(successor);
  await it.advance(5000);
  assert.equal(it.one('web/app').uid, 'uid-web');
  await it.advance(10_000);
  assert.equal(it.one('web/app').uid, 'uid-web-2');
  assert.deepEqual(it.story('started', 'ended', 'removed'), ['started web/app', 'ended web/app', 'removed web/app', 'started web/app']);
  assert.deepEqual([...new Set(it.world().map(({ uid }) => uid))], ['uid-web-2']);
});

scenario('of two edits within 50 ms only the last runs', async (it) => {
  const first = aPodThat('web');
  it.declare(first);
  await it.advance(1000);
  it.declare(edited(first, 'uid-web-2'));
  await it.advance(30);
  it.declare(edited(first, 'uid-web-3'));
  await it.advance(10_000);
  assert.equal(it.one('web/app').uid, 'uid-web-3');
  assert.ok(!it.history.some(({ part, what }) => part.uid === 'uid-web-2' && what === 'started'));
});

scenario('two edits under the same uid while the old container ends: only the last spec runs', async (it) => {
  const spec = (tag: string) => ({ containers: [slowToEnd(tag)] });
  it.declare(aPodThat('web', spec('1')));
  await it.advance(1000);
  it.declare(aPodThat('web', spec('2')));
  await it.advance(30);
  it.declare(aPodThat('web', spec('3')));
  await it.advance(60_000);
  assert.equal(it.times('started', 'web/app').length, 2);
  it.one('web/app');
});

scenario('an edit that is taken back while the old pod ends: it ends first and then starts anew', async (it) => {
  const old = aPodThat('web', { containers: [slowToEnd('1')] });
  it.declare(old);
  await it.advance(1000);
  it.declare(edited(old, 'uid-web-2', { containers: [slowToEnd('2')] }));
  await it.advance(2000);
  it.declare(old);
  await it.advance(60_000);
  const { uid, attempt } = it.one('web/app');
  assert.deepEqual({ uid, attempt }, { uid: 'uid-web', attempt: 0 });
  assert.deepEqual(it.story('started', 'ended', 'removed'), ['started web/app', 'ended web/app', 'removed web/app', 'started web/app']);
});

for (const restartPolicy of ['Always', 'OnFailure', 'Never']) {
  scenario(
    `a pod removed and declared again with the same uid while it ends starts anew after that, with restart policy ${restartPolicy}`,
    async (it) => {
      // The sidecar makes its end one of several runs.
      const pod = aPodThat('web', { restartPolicy, initContainers: [sidecar('proxy')], containers: [slowToEnd('1')] });
      it.declare(pod);
      await it.advance(1000);
      it.declare();
      await it.advance(2000);
      it.declare(pod);
      await it.advance(3000);
      assert.equal(it.times('started', 'web/app').length, 1, 'the old one still ends');
      await it.advance(20_000);
      assert.deepEqual(
        it.story('started', 'ended', 'removed').filter((line) => line.endsWith('app')),
        ['started web/app', 'ended web/app', 'removed web/app', 'started web/app'],
      );
      assert.equal(it.status(pod)?.phase, 'Running');
      assert.equal(it.status(pod)?.containerStatuses?.[0]?.restartCount, 0);
    },
  );
}

scenario('a pod that waited for a name and is declared again while the engine is away runs once the name is free', async (it) => {
  const old = aPodThat('web', { containers: [slowToEnd('1')] });
  const successor = edited(old, 'uid-web-2');
  it.declare(old);
  await it.advance(1000);
  it.declare(successor);
  await it.advance(100);
  it.engine.controls.restart({ downMs: 500, liveRestore: true });
  it.declare();
  await it.advance(300);
  it.declare(successor);
  await it.advance(60_000);
  assert.equal(it.one('web/app').uid, 'uid-web-2');
  assert.deepEqual([...new Set(it.world().map(({ uid }) => uid))], ['uid-web-2']);
});

scenario('pods of the same name in different namespaces do not wait for each other', async (it) => {
  it.declare(aPodThat('web'), aPodThat('web', {}, {}, { uid: 'uid-other' as never, namespace: 'other' }));
  await it.advance(1000);
  assert.deepEqual(it.running(), ['web/POD', 'web/POD', 'web/app', 'web/app']);
});

scenario('pods of two manifests with one name: the first runs, and the second once the first is gone', async (it) => {
  const [a, b] = [aPodThat('web'), edited(aPodThat('web'), 'uid-b')];
  it.declare(a);
  await it.advance(1000);
  it.declare(a, b);
  await it.advance(1000);
  assert.equal(it.one('web/app').uid, 'uid-web');
  it.declare(b);
  await it.advance(10_000);
  assert.equal(it.one('web/app').uid, 'uid-b');
});

for (const restartPolicy of ['OnFailure', 'Never']) {
  scenario(
    `a changed container whose new start fails or is overtaken has not ended by itself, with restart policy ${restartPolicy}`,
    async (it) => {
      const pod = (tag: string) => aPodThat('web', { restartPolicy, containers: [server('app', { image: `busybox:${tag}` })] });
      it.declare(pod('1'));
      await it.advance(1000);
      it.declare(pod('2'));
      await it.advance(30);
      assert.deepEqual(it.running(), ['web/POD'], 'stopped and not started yet');
      it.engine.controls.fail('startContainer');
      it.declare(pod('3'));
      await it.advance(100);
      assert.equal(it.status(pod('3'))?.phase, 'Running');
      await it.advance(10_000);
      const { role } = it.one('web/app');
      assert.ok(role.kind === 'container');
      assert.equal(role.specHash, containerHash(pod('3').spec.containers[0]!));
      assert.equal(it.status(pod('3'))?.phase, 'Running');
    },
  );
}
