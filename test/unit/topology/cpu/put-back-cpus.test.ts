import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { PodUid } from '../../../../src/model/pod.ts';
import type { ContainerId } from '../../../../src/ports/container-runtime.ts';
import type { RunningPod } from '../../../../src/ports/running-pods.ts';
import { putBackCpus } from '../../../../src/topology/cpu/put-back-cpus.ts';
import { aMachine } from '../../../builders/a-machine.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

const pod = aPod('own', { containers: [aContainer('app')] });
const { uid } = pod.metadata;
const running = (name: string, podUid: PodUid = uid): RunningPod => ({
  uid: podUid,
  name: 'own',
  namespace: 'default',
  network: 'pod',
  containers: [{ id: `id-${name}` as ContainerId, name, engineName: name, image: 'busybox', startedAtMs: 0, pid: 7 }],
});

/** One container, as the kernel shows it, with its cgroup at the place that this version has. */
async function world(t: TestContext, version: 1 | 2 = 2) {
  const place = version === 2 ? 'cg/pods/id-app/cpuset.cpus' : 'cg/cpuset/pods/id-app/cpuset.cpus';
  const cgroup = version === 2 ? '0::/pods/id-app' : '4:cpuset:/pods/id-app\n0::/elsewhere';
  const machine = await aMachine({ 'proc/7/cgroup': `${cgroup}\n`, [place]: '1-2\n' });
  t.after(() => machine.remove());
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const done: string[] = [];
  const engine = { runs: [running('app')], fails: false, takesUpdates: true };
  const stopping = new AbortController();
  const ended = putBackCpus(
    {
      running: {
        list: async () => {
          if (engine.fails) throw new Error('connection refused');
          return engine.runs;
        },
        stale: (id) => void done.push(`stale ${id}`),
      },
      runtime: {
        updateContainer: async (id, _pod, { name }, change) => {
          if (!engine.takesUpdates) throw new Error('no room');
          done.push(`update ${id} ${name} ${JSON.stringify(change)}`);
        },
      },
      pods: { get: (of) => (of === uid ? { pod, source: 'file' } : undefined) },
      cgroups: { root: machine.at('cg'), version },
      clock,
      wake: (of, reason) => void done.push(`wake ${of} ${reason}`),
      log,
      cpuset: () => '1-2',
      proc: machine.at('proc'),
      periodMs: 10_000,
    },
    stopping.signal,
  );
  t.after(async () => {
    stopping.abort(new Error('over'));
    await assert.rejects(ended, { message: 'over' });
  });
  /** What one look does. */
  const look = async (): Promise<readonly string[]> => {
    // Until the look before is over, nothing waits for the clock.
    while (clock.actions.length === 0) await setImmediate();
    done.length = 0;
    await clock.advance(10_000);
    while (clock.actions.length === 0) await setImmediate();
    return [...done];
  };
  const move = (cpus: string): Promise<void> => machine.write({ [place]: `${cpus}\n` });
  return { look, log, engine, move, machine };
}

const woken = [`wake ${uid} resources changed`];
const updated = [`update id-app app ${JSON.stringify({ cpuset: '1-2' })}`];

for (const version of [1, 2] as const)
  test(`a container that something else has moved is looked at, and put back where that does not do: cgroup v${version}`, async (t) => {
    const { look, move, log } = await world(t, version);
    assert.deepEqual(await look(), []);
    await move('0-3');
    assert.deepEqual(await look(), woken);
    assert.deepEqual(await look(), updated);
    assert.equal(log.count('container put back on its CPUs: something other than the agent had moved it'), 1);
    await move('1-2');
    assert.deepEqual(await look(), []);
  });

test('one that moves again meanwhile is looked at again first', async (t) => {
  const { look, move } = await world(t);
  await move('0');
  assert.deepEqual(await look(), woken);
  await move('3');
  assert.deepEqual(await look(), woken);
  await move('2,1');
  assert.deepEqual(await look(), [], 'the same in other words');
});

test('what cannot be put back is tried again, and what cannot be seen is looked for again', async (t) => {
  const { look, move, engine, log } = await world(t);
  await move('0');
  await look();
  engine.takesUpdates = false;
  assert.deepEqual(await look(), []);
  assert.equal(log.count('container not on its CPUs, and cannot be put back; retrying'), 1);
  engine.takesUpdates = true;
  assert.deepEqual(await look(), updated);
  engine.fails = true;
  assert.deepEqual(await look(), []);
  assert.equal(log.count('cannot see on which CPUs containers are; retrying'), 1);
  engine.fails = false;
  assert.deepEqual(await look(), woken);
});

test('what is not ours, not declared or gone is left alone', async (t) => {
  const { look, move, engine, machine } = await world(t);
  await move('0');
  engine.runs = [running('app', 'another' as PodUid), running('gone')];
  assert.deepEqual(await look(), []);
  engine.runs = [running('app')];
  await machine.write({ 'proc/7/cgroup': '0::/pods/another\n' });
  assert.deepEqual(await look(), ['stale id-app'], "its process's number is another's");
});
