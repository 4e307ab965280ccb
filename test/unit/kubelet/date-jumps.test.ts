import assert from 'node:assert/strict';
import { aPodThat, server, worker } from '../../builders/pods-that.ts';
import { scenario } from '../../fakes/scenario.ts';

const HOUR_MS = 3_600_000;
/** By how much an administrator, or NTP, sets the date. */
const jumps = { 'an hour back': -HOUR_MS, 'an hour forward': HOUR_MS, 'a year back': -8760 * HOUR_MS, 'a year forward': 8760 * HOUR_MS };

for (const [jump, byMs] of Object.entries(jumps)) {
  scenario(`a pod ends at its deadline, not earlier and not later, though the date is set ${jump}`, async (it) => {
    const pod = aPodThat('web', { activeDeadlineSeconds: 20 });
    it.declare(pod);
    await it.advance(10_000);
    it.clock.moveDate(byMs);
    await it.advance(9_000);
    assert.equal(it.status(pod)?.phase, 'Running');
    await it.advance(2_000);
    assert.equal(it.status(pod)?.reason, 'DeadlineExceeded');
  });

  scenario(`a crash loop's waits stay what they are, though the date is set ${jump} in each of them`, async (it) => {
    it.declare(aPodThat('web', {}, { app: 'exit=1 after=1s' }));
    await it.advance(5_000);
    for (let jumped = 0; jumped < 4; jumped++) {
      it.clock.moveDate(byMs);
      await it.advance(1_000);
      it.clock.moveDate(-byMs / 2);
      await it.advance(20_000);
    }
    await it.advance(2_000_000);
    const starts = it.times('started', 'web/app').slice(0, 9);
    const waits = starts.slice(1).map((atMs, i) => Math.floor((atMs - (starts[i] ?? 0) - 1_000) / 1000));
    assert.deepEqual(waits, [0, 10, 20, 40, 80, 160, 300, 300]);
  });

  scenario(`a crash loop's waits stay what they are, though the date is set ${jump} while the container runs`, async (it) => {
    it.declare(aPodThat('web', {}, { app: 'exit=1 after=5s' }));
    const starts = (): readonly number[] => it.times('started', 'web/app');
    for (let run = 1; run <= 6; run++) {
      while (starts().length < run) await it.advance(1_000);
      it.clock.moveDate(run % 2 === 0 ? -byMs : byMs);
    }
    const waits = starts()
      .slice(1, 6)
      .map((atMs, i) => Math.round((atMs - (starts()[i] ?? 0) - 5_000) / 1000));
    assert.deepEqual(waits, [0, 10, 20, 40, 80]);
  });

  scenario(`a container that was killed comes back once and stays, though the date was set ${jump} since it was created`, async (it) => {
    const pod = aPodThat('web', { initContainers: [worker('init', 1)], containers: [server('app')] });
    it.declare(pod);
    await it.advance(5_000);
    it.clock.moveDate(byMs);
    it.kill('web/app');
    await it.advance(600_000);
    assert.deepEqual(it.story('started'), ['started web/init', 'started web/app', 'started web/app']);
    assert.deepEqual(it.running(), ['web/POD', 'web/app']);
    assert.equal(it.status(pod)?.containerStatuses?.[0]?.restartCount, 1);
    assert.equal(it.status(pod)?.phase, 'Running');
  });

  scenario(`a pod is initialized once, though the date is set ${jump} while its init containers run`, async (it) => {
    it.declare(aPodThat('web', { initContainers: [worker('one', 2), worker('two', 2)], containers: [server('app')] }));
    await it.advance(1_000);
    it.clock.moveDate(byMs);
    await it.advance(600_000);
    assert.deepEqual(it.story('started'), ['started web/one', 'started web/two', 'started web/app']);
  });

  scenario(`a probe begins after its initial delay, not earlier and not later, though the date is set ${jump} meanwhile`, async (it) => {
    const readinessProbe = { exec: { command: ['true'] }, initialDelaySeconds: 30, periodSeconds: 1 };
    const pod = aPodThat('web', { containers: [server('app', { readinessProbe })] });
    const isReady = (): boolean => it.status(pod)?.containerStatuses?.[0]?.ready ?? false;
    it.declare(pod);
    await it.advance(10_000);
    it.clock.moveDate(byMs);
    await it.advance(18_000);
    assert.equal(isReady(), false);
    await it.advance(5_000);
    assert.equal(isReady(), true);
    // The next instance has a delay of its own.
    it.clock.moveDate(-byMs);
    it.kill('web/app');
    it.clock.moveDate(byMs);
    await it.advance(28_000);
    assert.equal(isReady(), false);
    await it.advance(5_000);
    assert.equal(isReady(), true);
  });

  scenario(`a deleted container gets its grace period, though the date is set ${jump} meanwhile`, async (it) => {
    it.declare(aPodThat('web', { terminationGracePeriodSeconds: 60 }, { app: 'term=ignore' }));
    await it.advance(5_000);
    it.declare();
    await it.advance(20_000);
    it.clock.moveDate(byMs);
    await it.advance(39_000);
    assert.equal(it.running().includes('web/app'), true);
    await it.advance(5_000);
    assert.deepEqual(it.running(), []);
  });

  scenario(`an agent that starts after the date was set ${jump} holds nothing back for longer than the longest wait`, async (it) => {
    it.declare(aPodThat('web', {}, { app: 'exit=1 after=1s' }));
    await it.advance(100_000);
    await it.stopAgent();
    it.clock.moveDate(byMs);
    it.declare(aPodThat('web', {}, { app: 'exit=1 after=1s' }));
    const before = it.times('started', 'web/app').length;
    await it.advance(302_000);
    assert.ok(it.times('started', 'web/app').length > before);
  });
}

scenario('a pod with a deadline that is far away is looked at as often as one without', async (it) => {
  it.declare(aPodThat('web', { activeDeadlineSeconds: 31_536_000 }), aPodThat('other'));
  await it.advance(5_000);
  const looks = (uid: string): number => it.records.filter((record) => record.uid === uid).length;
  const [before, otherBefore] = [looks('uid-web'), looks('uid-other')];
  await it.advance(600_000);
  assert.ok(looks('uid-web') - before >= 6, `${looks('uid-web') - before} looks in ten minutes`);
  assert.ok(Math.abs(looks('uid-web') - before - (looks('uid-other') - otherBefore)) <= 4);
});
