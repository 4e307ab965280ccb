import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PodParticipants } from '../../../../src/agent/reconcile/pod-participants.ts';
import { NodeUse } from '../../../../src/model/node-use.ts';
import type { PodRefusal } from '../../../../src/model/pod-admission.ts';
import type { PodParticipant } from '../../../../src/ports/pod-participant.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const pod = aPod('web');
const { uid } = pod.metadata;
const { signal } = new AbortController();
const full: PodRefusal = { reason: 'OutOfmemory', message: 'Node did not have enough resource' };
const others = new NodeUse();

/** Participants of these names that note what they are asked. */
function participants(named: Readonly<Record<string, PodParticipant>>) {
  const asked: string[] = [];
  const noting = (name: string, own: PodParticipant): PodParticipant => ({
    admit: async (one, use, within) => {
      asked.push(`${name} admits`);
      return own.admit?.(one, use, within);
    },
    makeRoom: async (one, refusal, use, within) => {
      if (!own.makeRoom) return false;
      asked.push(`${name} makes room`);
      return own.makeRoom(one, refusal, use, within);
    },
    release: async (one, within) => {
      asked.push(`${name} releases`);
      await own.release?.(one, within);
    },
  });
  const list = Object.entries(named).map(([name, own]) => ({ name, pod: { ...own, ...noting(name, own) } }));
  const clock = new FakeClock();
  return { asked, clock, all: new PodParticipants(list, clock) };
}

test('admission asks in order until one refuses; then those before may have allocated, and all release backwards', async () => {
  const { asked, all } = participants({ a: {}, b: { admit: async () => full }, c: {} });
  assert.deepEqual(await all.admit(pod, others, signal), full);
  assert.deepEqual(asked, ['a admits', 'b admits', 'c releases', 'b releases', 'a releases']);
});

test('where room was made all are asked once more, and once only', async () => {
  let room = 0;
  const { asked, all } = participants({
    fit: { admit: async () => (room > 0 ? undefined : full) },
    preempt: { makeRoom: async () => ++room > 0 },
  });
  assert.equal(await all.admit(pod, others, signal), undefined);
  assert.deepEqual(asked, ['fit admits', 'preempt makes room', 'fit admits', 'preempt admits']);
  const vain = participants({ fit: { admit: async () => full }, preempt: { makeRoom: async () => true } });
  assert.deepEqual(await vain.all.admit(pod, others, signal), full);
  assert.equal(vain.asked.filter((what) => what === 'preempt makes room').length, 1);
  assert.deepEqual(vain.asked.slice(-2), ['preempt releases', 'fit releases']);
});

test('an admission that fails releases what was allocated, and says why', async () => {
  const { asked, all } = participants({ a: {}, b: { admit: () => Promise.reject(new Error('the plugin has gone')) } });
  await assert.rejects(all.admit(pod, others, signal), /the plugin has gone/);
  assert.deepEqual(asked.slice(2), ['b releases', 'a releases']);
});

test('who is known to be prepared is not asked to prepare; a pod is prepared once all are', async () => {
  const asked: string[] = [];
  const ready = new Set<string>();
  const looking = (name: string): PodParticipant => ({
    prepare: async () => {
      asked.push(name);
      return undefined;
    },
  });
  const noting = (name: string): PodParticipant => ({ ...looking(name), isPrepared: () => ready.has(name) });
  const two = new PodParticipants(
    [
      { name: 'a', pod: noting('a') },
      { name: 'b', pod: noting('b') },
    ],
    new FakeClock(),
  );
  assert.equal(two.isPrepared(pod), false);
  ready.add('a');
  assert.equal(two.isPrepared(pod), false);
  await two.prepare(pod, signal);
  assert.deepEqual(asked, ['b']);
  ready.add('b');
  assert.equal(two.isPrepared(pod), true);
  await two.prepare(pod, signal);
  assert.deepEqual(asked, ['b']);

  const withLooking = new PodParticipants([{ name: 'looks', pod: looking('looks') }], new FakeClock());
  assert.equal(withLooking.isPrepared(pod), false);
  await withLooking.prepare(pod, signal);
  assert.deepEqual(asked, ['b', 'looks']);
});

test('what is out of date is told of all, with the earliest time to try again; a failure ends the preparing', async () => {
  const prepared: string[] = [];
  const late = (message: string, retryInMs: number): PodParticipant => ({
    prepare: async () => {
      prepared.push(message);
      return { message, retryInMs };
    },
  });
  const some = new PodParticipants(
    [
      { name: 'a', pod: late('a is old', 5_000) },
      { name: 'b', pod: {} },
      { name: 'c', pod: late('c is old', 2_000) },
    ],
    new FakeClock(),
  );
  assert.deepEqual(await some.prepare(pod, signal), { message: 'a is old; c is old', retryInMs: 2_000 });
  const failing = new PodParticipants(
    [
      { name: 'a', pod: { prepare: () => Promise.reject(new Error('no such volume')) } },
      { name: 'b', pod: late('never', 1) },
    ],
    new FakeClock(),
  );
  await assert.rejects(failing.prepare(pod, signal), /no such volume/);
  assert.ok(!prepared.includes('never'));
});

test("a container's environment is seen by the participants after, a later variable of one name takes its place, and all else adds up", async () => {
  const mount = (containerPath: string) => ({ hostPath: '/x', containerPath, readOnly: true });
  const seen: (string | undefined)[] = [];
  const some = new PodParticipants(
    [
      { name: 'a', pod: { container: async () => ({ env: [{ name: 'GPU', value: '0' }], mounts: [mount('/a')], cpuset: '0-1' }) } },
      {
        name: 'b',
        pod: {
          container: async (_pod, _container, { env }) => {
            seen.push(env.get('GPU'));
            return {
              env: [{ name: 'GPU', value: '1' }],
              mounts: [mount('/b')],
              devices: [{ hostPath: '/dev/x', containerPath: '/dev/x', permissions: 'rw' }],
            };
          },
        },
      },
    ],
    new FakeClock(),
  );
  const making = { env: new Map([['HOME', '/']]), podIps: async () => [] };
  const found = await some.container(pod, aContainer('app'), making, signal);
  assert.deepEqual(seen, ['0']);
  assert.deepEqual(
    [...found.env],
    [
      ['HOME', '/'],
      ['GPU', '1'],
    ],
  );
  assert.deepEqual(
    found.mounts.map(({ containerPath }) => containerPath),
    ['/a', '/b'],
  );
  assert.deepEqual([found.devices.length, found.cpuset], [1, '0-1']);
  assert.deepEqual([...making.env], [['HOME', '/']], 'what was asked with is as it was');
});

test('one that cannot release does not keep the others from it; all that failed is said', async () => {
  const broken = (message: string): PodParticipant => ({ release: () => Promise.reject(new Error(message)) });
  const { asked, all } = participants({ a: broken('busy'), b: {}, c: broken('gone') });
  await assert.rejects(all.release(uid, signal), /c: gone; a: busy/);
  assert.deepEqual(asked, ['c releases', 'b releases', 'a releases']);
  const one = participants({ a: broken('busy'), b: {} });
  await assert.rejects(one.all.release(uid, signal), { message: 'busy' });
});

test('what participants give a sandbox adds up, the later going before', async () => {
  const some = new PodParticipants(
    [
      { name: 'a', pod: { sandbox: async () => ({ hostname: 'a', handler: 'runsc' }) } },
      { name: 'b', pod: { sandbox: async () => ({ hostname: 'b' }) } },
    ],
    new FakeClock(),
  );
  assert.deepEqual(await some.sandbox(pod, signal), { hostname: 'b', handler: 'runsc' });
});

describe('a participant that hangs', () => {
  const untilAborted = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  const never = (): Promise<never> => new Promise(() => {});

  for (const [what, hanging, step] of [
    ['preparing', { prepare: (_, within) => untilAborted(within) }, (all) => all.prepare(pod, signal)],
    ['giving the sandbox its part', { sandbox: (_, within) => untilAborted(within) }, (all) => all.sandbox(pod, signal)],
    [
      'giving container c its part',
      { container: (_, __, ___, within) => untilAborted(within) },
      (all) => all.container(pod, aContainer('c'), { env: new Map(), podIps: async () => [] }, signal),
    ],
  ] as const satisfies readonly (readonly [string, PodParticipant, (all: PodParticipants) => Promise<unknown>])[])
    test(`${what}: is named after five minutes, and not a moment before`, async () => {
      const { all, clock } = participants({ quick: {}, slow: hanging, after: {} });
      let ended = false;
      const asked = step(all).finally(() => (ended = true));
      const failed = assert.rejects(asked, { message: `slow: ${what} took longer than 300 s` });
      await clock.advance(299_999);
      assert.equal(ended, false);
      await clock.advance(1);
      await failed;
    });

  test('one that does not even hear the end of its time is left behind 5 s later', async () => {
    const { all, clock } = participants({ deaf: { prepare: never } });
    const failed = assert.rejects(all.prepare(pod, signal), /deaf: preparing took longer than 300 s/);
    await clock.advance(305_000);
    await failed;
  });

  test('releasing: the others release all the same, and it is named', async () => {
    const { all, asked, clock } = participants({ first: {}, slow: { release: (_, within) => untilAborted(within) }, last: {} });
    const failed = assert.rejects(all.release(uid, signal), /release took longer than 300 s/);
    await clock.advance(300_000);
    await failed;
    assert.deepEqual(asked, ['last releases', 'slow releases', 'first releases']);
  });
});
