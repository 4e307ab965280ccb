import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALL_DEADLINE_MS, FileSystemGuard } from '../../../src/hostfiles/file-system-guard.ts';
import type { SilentFileSystem } from '../../../src/ports/host-files.ts';
import { parseMountInfo } from '../../../src/base/mount-info.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const mounts = ['/ 8:1', '/mnt/a 0:50', '/mnt/b 0:51', '/pods/1 0:50'].map((each, i) => {
  const [path, device] = each.split(' ');
  return `${i} 0 ${device} / ${path} rw - nfs server rw`;
});
const never = new AbortController().signal;

function aGuard(threads = 64) {
  const clock = new FakeClock();
  const told: (readonly SilentFileSystem[])[] = [];
  const guard = new FileSystemGuard({ clock, table: () => parseMountInfo(mounts.join('\n')), onChange: (all) => told.push(all), threads });
  let made = 0;
  const hanging: (() => void)[] = [];
  /** A call that is answered when `hanging` says so. */
  const hangs = (path: string): Promise<string> =>
    guard.touch(
      path,
      () => {
        made++;
        return new Promise((resolve) => hanging.push(() => resolve('answered')));
      },
      never,
    );
  const answers = (path: string, signal = never): Promise<string> => guard.touch(path, async () => 'well', signal);
  return { clock, guard, told, hangs, answers, hanging, made: () => made };
}

const silence = /^Error: the file system at \/mnt\/a\/x on \/mnt\/a does not answer, since 1970-01-01T00:00:00Z: /;

test('a file system that leaves a call unanswered for 10 s is silent: what waits for it fails then, and what comes fails at once', async () => {
  const { clock, told, hangs, answers, made } = aGuard();
  const all = Array.from({ length: 100 }, () => hangs('/mnt/a/x'));
  const failed = Promise.all(all.map((each) => assert.rejects(each, silence)));
  await clock.advance(CALL_DEADLINE_MS - 1);
  assert.equal(told.length, 0);
  assert.equal(await answers('/mnt/b/x'), 'well');
  await clock.advance(1);
  await failed;
  assert.equal(made(), 2, 'calls that hang');
  assert.deepEqual(told, [[{ mount: '/mnt/a', device: '0:50', path: '/mnt/a/x', sinceMs: 0 }]]);
  await assert.rejects(answers('/mnt/a/y'), silence);
  await assert.rejects(answers('/pods/1/y'), silence);
  assert.equal(await answers('/mnt/b/x'), 'well');
});

test('a file system answers again when a call that hung is answered', async () => {
  const { clock, guard, told, hangs, answers, hanging } = aGuard();
  const failed = assert.rejects(hangs('/mnt/a/x'), silence);
  await clock.advance(CALL_DEADLINE_MS);
  await failed;
  hanging[0]?.();
  await clock.advance(0);
  assert.deepEqual(told.at(-1), []);
  assert.deepEqual(guard.silent(), []);
  assert.equal(await answers('/mnt/a/x'), 'well');
});

test('a silent file system is asked again at times that grow further apart, for what hung may have been lost', async () => {
  const { clock, hangs, answers, told, made } = aGuard(256);
  void hangs('/mnt/a/x').catch(() => {});
  await clock.advance(CALL_DEADLINE_MS);
  const hours = 24;
  for (let minute = 0; minute < hours * 60; minute++) {
    await clock.advance(60_000);
    void hangs('/mnt/a/x').catch(() => {});
  }
  await clock.advance(CALL_DEADLINE_MS);
  assert.ok(made() > 10 && made() < 40, `${made()} calls in a day`);
  await clock.advance(3_600_000);
  assert.equal(await answers('/mnt/a/x'), 'well');
  assert.deepEqual(told.at(-1), []);
});

test('what is asked again leaves half of the threads to file systems that answer', async () => {
  const { clock, hangs, answers, made } = aGuard(8);
  for (let hour = 0; hour < 100; hour++) {
    void hangs('/mnt/a/x').catch(() => {});
    await clock.advance(3_600_000);
  }
  assert.equal(made(), 4);
  assert.equal(await answers('/mnt/b/x'), 'well');
});

test('as many servers as pods mount may be dead: the node’s own disk is looked at all the same, also when it is slow', async () => {
  const clock = new FakeClock();
  const servers = Array.from({ length: 400 }, (_, i) => `${i} 0 0:${i} / /mnt/${i} rw - nfs server rw`);
  const table = parseMountInfo(['0 0 8:1 / / rw - ext4 /dev/vda rw', '0 0 8:2 / /disk rw - xfs /dev/vdb rw', ...servers].join('\n'));
  const guard = new FileSystemGuard({ clock, table: () => table, onChange: () => {}, threads: 248 });
  let made = 0;
  const dead = (): Promise<never> => {
    made++;
    return new Promise(() => {});
  };
  const all = Promise.allSettled(servers.flatMap((_, i) => Array.from({ length: 10 }, () => guard.touch(`/mnt/${i}/x`, dead, never))));
  for (let i = 0; i < 5; i++) void guard.touch('/disk/x', dead, never).catch(() => {});
  assert.equal(await guard.touch('/var/x', async () => 'well', never), 'well');
  await clock.advance(CALL_DEADLINE_MS);
  await all;
  assert.ok(made < 200, `${made} calls hang`);
  assert.equal(await guard.touch('/var/x', async () => 'well', never), 'well');
});

test('a call that makes many calls is alive as long as it says so, and lets others have their turn', async () => {
  const { clock, guard, answers, told } = aGuard();
  let step = (): void => {};
  const walks = [1, 2, 3].map(() =>
    guard.touch(
      '/mnt/a/x',
      async (alive) => {
        alive();
        for (let i = 0; i < 10; i++) {
          await clock.sleep(CALL_DEADLINE_MS - 1);
          alive();
        }
        await new Promise<void>((resolve) => (step = resolve));
      },
      never,
    ),
  );
  const settled = Promise.allSettled(walks);
  await clock.advance(10 * (CALL_DEADLINE_MS - 1));
  assert.equal(await answers('/mnt/a/y'), 'well');
  assert.equal(told.length, 0);
  await clock.advance(CALL_DEADLINE_MS);
  assert.deepEqual(
    (await settled).map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  step();
});

test('what is aborted makes no further call', async () => {
  const { answers } = aGuard();
  await assert.rejects(answers('/mnt/a/x', AbortSignal.abort(new Error('enough'))), /^Error: enough$/);
});

test('a file that was opened too late is closed', async () => {
  const { clock, guard } = aGuard();
  let open: (file: { close: () => Promise<void> }) => void = () => {};
  let closed = false;
  const failed = assert.rejects(
    guard.touch('/mnt/a/x', () => new Promise<object>((resolve) => (open = resolve)), never),
    silence,
  );
  await clock.advance(CALL_DEADLINE_MS);
  await failed;
  open({ close: async () => void (closed = true) });
  await clock.advance(0);
  assert.ok(closed);
});
