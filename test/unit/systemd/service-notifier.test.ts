import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { ServiceNotifier } from '../../../src/systemd/service-notifier.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { notifyProgram } from '../../fakes/notify-program.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

/** Programs take the time that they take, and no back-off is waited for. */
const impatient: Pick<Clock, 'schedule' | 'sleep'> = {
  ...systemClock,
  sleep: (ms, signal) => (ms < CLOSE_MS ? Promise.resolve() : systemClock.sleep(ms, signal)),
};
const CLOSE_MS = 60_000;

interface Given {
  readonly script?: string;
  readonly program?: string;
  readonly privileged?: boolean;
  readonly clock?: Pick<Clock, 'schedule' | 'sleep'>;
}

function setUp(test: TestContext, { script, program, privileged = true, clock = impatient }: Given = {}) {
  const log = new RecordingLogger();
  const fake = notifyProgram(test, script);
  const notifier = new ServiceNotifier({ clock, log, socket: '/run/notify', program: program ?? fake.path, privileged });
  return { log, notifier, close: () => notifier.close(CLOSE_MS), sent: fake.sent };
}

test('what is said while one is under way is sent next, in one, the last of each word', async (t) => {
  const { log, notifier, close, sent } = setUp(t);
  notifier.notify({ READY: '1' });
  notifier.notify({ STATUS: 'one' });
  notifier.notify({ STATUS: 'two', WATCHDOG: '1' });
  await close();
  assert.deepEqual(sent(), ['--no-block|READY=1|/run/notify', '--no-block|STATUS=two|WATCHDOG=1|/run/notify']);
  assert.deepEqual(log.lines, []);
});

test("another user's program waits until the manager has looked who it is", async (t) => {
  const { notifier, close, sent } = setUp(t, { privileged: false });
  notifier.notify({ READY: '1' });
  await close();
  assert.deepEqual(sent(), ['READY=1|/run/notify']);
});

test('a status is one line, of a bounded length', async (t) => {
  const { notifier, close, sent } = setUp(t);
  notifier.notify({ STATUS: `a\nREADY=0\n${'b'.repeat(100_000)}` });
  await close();
  assert.deepEqual(sent(), [`--no-block|STATUS=a READY=0 ${'b'.repeat(490)}|/run/notify`]);
});

test('what cannot be sent is tried again with what came since, logged once, and given up after a few times', async (t) => {
  const { log, notifier, close, sent } = setUp(t, { script: 'echo "Connection refused" >&2; exit 1' });
  const refused = log.next('the service manager cannot be notified');
  notifier.notify({ READY: '1' });
  assert.match(String((await refused).fields['fault']), /notify: Connection refused$/);
  notifier.notify({ STATUS: 'later' });
  await close();
  assert.deepEqual(sent(), ['--no-block|READY=1|/run/notify', ...Array<string>(4).fill('--no-block|READY=1|STATUS=later|/run/notify')]);
  assert.equal(log.lines.length, 1);
});

test('once it works again that is logged', async (t) => {
  const { log, notifier, close } = setUp(t, { script: '[ -e "$0.ok" ] && exit 0; touch "$0.ok"; exit 1' });
  notifier.notify({ READY: '1' });
  await close();
  assert.deepEqual(
    log.lines.map(({ message }) => message),
    ['the service manager cannot be notified', 'the service manager is notified again'],
  );
});

test('a socket that nobody reads holds up nothing for longer than five seconds', async (t) => {
  const clock = new FakeClock();
  const { log, notifier, close, sent } = setUp(t, { script: 'exec sleep 1000', clock });
  notifier.notify({ READY: '1' });
  while (sent().length === 0) await clock.advance(0);
  await clock.until(close(), 100);
  assert.equal(log.lines[0]?.fields['fault'], 'the service manager has not read from its socket within 5 s');
});

test('an end does not wait for a socket that nobody reads', async (t) => {
  const clock = new FakeClock();
  const { notifier } = setUp(t, { script: 'exec sleep 1000', clock });
  notifier.notify({ STOPPING: '1' });
  const began = clock.monotonicMs();
  await clock.until(notifier.close(2000), 100);
  assert.ok(clock.monotonicMs() - began < 3000);
});

test('without the program it is said what to do', async (t) => {
  const { log, notifier, close } = setUp(t, { program: '/nowhere/systemd-notify' });
  notifier.notify({ READY: '1' });
  await close();
  assert.match(String(log.lines[0]?.fields['fault']), /ENOENT: install systemd's programs, or start the agent without NOTIFY_SOCKET/);
});

test('a reload and its end are two words, in their order, also where both wait', async (t) => {
  const { notifier, close, sent } = setUp(t);
  const reload = (since: string): void => {
    notifier.notify({ RELOADING: '1', MONOTONIC_USEC: since });
    notifier.notify({ READY: '1' });
  };
  notifier.notify({ STATUS: 'busy' });
  for (const since of ['1', '2', '3']) reload(since);
  notifier.notify({ STATUS: 'serving' });
  await close();
  assert.deepEqual(sent(), [
    '--no-block|STATUS=busy|/run/notify',
    '--no-block|RELOADING=1|MONOTONIC_USEC=1|/run/notify',
    '--no-block|READY=1|STATUS=serving|/run/notify',
  ]);
});

test('a reload that could not be sent comes before its end when it is tried again', async (t) => {
  const { notifier, close, sent } = setUp(t, { script: '[ -e "$0.tried" ] || { touch "$0.tried"; exit 1; }' });
  notifier.notify({ RELOADING: '1', MONOTONIC_USEC: '1' });
  notifier.notify({ READY: '1' });
  await close();
  assert.deepEqual(
    sent().map((line) => line.split('|')[1]),
    ['RELOADING=1', 'RELOADING=1', 'READY=1'],
  );
});
