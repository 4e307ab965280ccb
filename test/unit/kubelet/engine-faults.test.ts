import assert from 'node:assert/strict';
import type { Verb } from '../../../src/engines/fake/call-gate.ts';
import { aPodThat, edited, server } from '../../builders/pods-that.ts';
import { scenario, type Scenario } from '../../fakes/scenario.ts';

const twoPods = [aPodThat('a', { containers: [server('one'), server('two')] }), aPodThat('b')];
const allRun = ['a/POD', 'a/one', 'a/two', 'b/POD', 'b/app'];

/** No container ever ran twice at a time. */
function assertNoDuplicate({ history }: Scenario): void {
  const running = new Map<string, string>();
  for (const { what, part } of history) {
    const key = `${part.uid}/${part.name}`;
    if (what === 'started') {
      assert.ok(running.get(key) === undefined, `${key} runs twice`);
      running.set(key, part.id);
    } else if (what !== 'created' && running.get(key) === part.id) running.delete(key);
  }
}

scenario('an engine that is away when the agent starts: pods run as soon as it is there', async (it) => {
  it.engine.controls.restart({ downMs: 30_000 });
  it.declare(...twoPods);
  await it.advance(29_000);
  assert.deepEqual(it.world(), []);
  await it.advance(15_000);
  assert.deepEqual(it.running(), allRun);
  assertNoDuplicate(it);
});

for (const liveRestore of [false, true]) {
  scenario(
    `an engine restarted under the agent, ${liveRestore ? 'its containers alive' : 'its containers dead'}: every pod is back, none twice`,
    async (it) => {
      it.declare(...twoPods);
      await it.advance(1000);
      const starts = it.story('started').length;
      it.engine.controls.restart({ downMs: 5000, liveRestore });
      await it.advance(60_000);
      assert.deepEqual(it.running(), allRun);
      assertNoDuplicate(it);
      assert.equal(it.story('started').length, liveRestore ? starts : starts * 2);
    },
  );
}

scenario('an engine restarted in the middle of starts: every pod is there in the end, none twice', async (it) => {
  for (let ms = 5; ms < 400; ms += 15) {
    it.declare(...twoPods);
    await it.advance(ms);
    it.engine.controls.restart({ downMs: 100, liveRestore: true });
    await it.advance(60_000);
    assert.deepEqual(it.running(), allRun, `restarted after ${ms} ms`);
    it.declare();
    await it.advance(60_000);
  }
  assertNoDuplicate(it);
});

for (const verb of [
  'runSandbox',
  'startContainer',
  'stopContainer',
  'removeContainer',
  'stopSandbox',
  'removeSandbox',
  'observePod',
  'listPods',
] satisfies readonly Verb[]) {
  scenario(`${verb} does its work and the answer is lost: nothing runs twice, nothing is left`, async (it) => {
    const pod = aPodThat('web', { containers: [server('one'), server('two')] });
    it.engine.controls.loseAnswer(verb, 2);
    it.declare(pod);
    await it.advance(60_000);
    assert.deepEqual(it.running(), ['web/POD', 'web/one', 'web/two']);
    it.declare(edited(pod, 'uid-web-2'));
    await it.advance(60_000);
    assert.deepEqual(it.running(), ['web/POD', 'web/one', 'web/two']);
    assertNoDuplicate(it);
    assert.equal(it.story('started').length, 4);
    assert.equal(it.world().length, 3);
  });

  scenario(`${verb} is not answered for two minutes: the other pods do not notice`, async (it) => {
    const starts = verb === 'runSandbox' || verb === 'startContainer';
    if (starts) it.engine.controls.hang(verb);
    it.declare(aPodThat('stuck'));
    await it.advance(1000);
    if (!starts) it.engine.controls.hang(verb);
    it.declare();
    await it.advance(100);
    it.declare(aPodThat('other'));
    await it.advance(1000);
    assert.ok(it.running().includes('other/app'));
    await it.advance(300_000);
    assert.deepEqual(it.running(), ['other/POD', 'other/app']);
  });
}

scenario('when hints are lost the relist finds what has happened', async (it) => {
  it.declare(aPodThat('web'));
  await it.advance(1000);
  it.engine.controls.dropHints(true);
  it.kill('web/app');
  await it.advance(11_000);
  assert.equal(it.one('web/app').attempt, 1);
});

scenario('a pull that hangs in one pod delays no other pod, also not one of the same node that needs a pull', async (it) => {
  it.engine.controls.scriptPull('stuck:1', { kind: 'hang' });
  it.declare(
    aPodThat('stuck', { containers: [server('app', { image: 'stuck:1' })] }),
    aPodThat('quick'),
    aPodThat('pulls', { containers: [server('app', { image: 'other:1' })] }),
  );
  await it.advance(1000);
  assert.deepEqual(it.running(), ['pulls/POD', 'pulls/app', 'quick/POD', 'quick/app', 'stuck/POD']);
});

scenario('a pull that fails is tried again with back-off, and status says why', async (it) => {
  const pod = aPodThat('web');
  it.engine.controls.scriptPull('busybox:1.35', { kind: 'fail', message: 'no such tag' });
  it.declare(pod);
  await it.advance(1000);
  const waiting = () => it.status(pod)?.containerStatuses?.[0]?.state?.waiting;
  assert.match(waiting()?.reason ?? '', /^(ErrImagePull|ImagePullBackOff)$/);
  assert.match(waiting()?.message ?? '', /no such tag|Back-off pulling image "busybox:1.35"/);
  await it.advance(300_000);
  const pulls = it.engine.controls.calls('pullImage');
  assert.ok(pulls >= 5 && pulls <= 7, `${pulls} pulls`);
  it.engine.controls.scriptPull('busybox:1.35', undefined);
  await it.advance(320_000);
  assert.deepEqual(it.running(), ['web/POD', 'web/app']);
});

scenario('a failure in one pod is retried with back-off and leaves other pods alone', async (it) => {
  it.engine.controls.fail('runSandbox', new Error('no space left on device'), 3);
  it.declare(aPodThat('a'));
  await it.advance(100);
  assert.equal(it.records.at(-1)?.failed?.includes('no space left on device'), true);
  await it.advance(10_000);
  assert.deepEqual(it.running(), ['a/POD', 'a/app']);
});
