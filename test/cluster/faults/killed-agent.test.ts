import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { app, pod, stays } from '../../integration/agent/pod-specs.ts';
import type { SeenEvent } from '../../integration/agent/test-engine.ts';
import { isReady, NodeInTrouble } from './node-in-trouble.ts';

const KILLS = 20;
const WORKERS = 6;
/** How much may happen in the engine between two kills. */
const MOST_EVENTS = 20;

describe('an agent that is killed while pods come and go', { timeout: 400_000 }, () => {
  test(`${KILLS} times, loses no pod, runs none twice and leaves nothing behind`, async (t) => {
    const seed = Number(process.env['RXLET_TEST_SEED'] ?? Date.now() % 2 ** 31);
    t.diagnostic(`RXLET_TEST_SEED=${seed}`);
    const random = randomFrom(seed);
    const node = await NodeInTrouble.start(t);
    const { agent } = node;
    let killing = true;
    let created = 0;
    /** By uid. */
    const once = new Set<string>();
    const left = new Map<string, { readonly name: string; readonly uid: string }>();

    /** Creates, waits or not, deletes, waits or not; the last pod stays. */
    const work = async (worker: number): Promise<void> => {
      for (let turn = 0; ; turn++) {
        const name = `w${worker}${random() < 0.5 ? '' : `-${turn}`}`;
        const ends = random() < 0.3;
        const uid = await node.create(name, ends ? pod([app('exit 0')], { restartPolicy: 'Never' }) : pod([app(stays)]));
        created++;
        if (ends) once.add(uid);
        left.set(uid, { name, uid });
        if (random() < 0.6) await node.until(`${name} has started`, () => node.pod(name)?.status?.phase !== 'Pending');
        else await happened(node, Math.ceil(random() * 3));
        if (!killing) return;
        const graceSeconds = random() < 0.3 ? 0 : random() < 0.5 ? 1 : undefined;
        await node.remove(name, graceSeconds);
        left.delete(uid);
        // The name is free as soon as the object is gone.
        await node.until(`${name} is gone`, () => node.pod(name)?.metadata.uid !== uid);
      }
    };
    const kill = async (): Promise<void> => {
      for (let kills = 0; kills < KILLS; kills++) {
        await happened(node, Math.ceil(random() * MOST_EVENTS));
        await agent.kill('SIGKILL');
        node.run();
      }
      killing = false;
    };
    await Promise.all([kill(), ...Array.from({ length: WORKERS }, (_, worker) => work(worker))]);
    assert.equal(left.size, WORKERS);

    for (const { name, uid } of left.values()) {
      const expected = (): boolean => (once.has(uid) ? node.pod(name)?.status?.phase === 'Succeeded' : isReady(node.pod(name)));
      await node.until(`${name} is ${once.has(uid) ? 'Succeeded' : 'Ready'}`, expected);
    }
    await node.until('the engine has these pods alone, each once', async () => {
      const containers = await agent.engine.containers();
      const running = containers.filter(({ state }) => state === 'running').map(({ uid, container }) => `${uid} ${container}`);
      const wanted = [...left.keys()].filter((uid) => !once.has(uid)).flatMap((uid) => [`${uid} POD`, `${uid} app`]);
      return containers.every(({ uid }) => left.has(uid)) && running.toSorted().join() === wanted.toSorted().join();
    });
    assert.deepEqual([...node.pods.values()].map(({ metadata }) => metadata.uid).toSorted(), [...left.keys()].toSorted());
    const restarts = [...node.pods.values()].flatMap(
      ({ status }) => status?.containerStatuses?.map(({ restartCount }) => restartCount) ?? [],
    );
    assert.deepEqual(twiceAtOnce(agent.engine.events), []);
    // Nothing here ends by itself but what ends for good.
    assert.deepEqual(startedAgain(agent.engine.events), []);

    await Promise.all([...left.values()].map(({ name }) => node.remove(name, 1)));
    await node.until('every pod is gone', () => node.pods.size === 0);
    await node.until('nothing is left in the engine', async () => (await agent.engine.containers()).length === 0);
    await node.until('nothing is left on disk', async () => (await agent.traces()).length === 0);
    const errors = agent.lines.filter(({ level }) => level === 'error');
    t.diagnostic(
      `${created} pods, ${KILLS} kills, ${agent.engine.events.length} engine events; restart counts of the last ${restarts.join()}`,
    );
    assert.deepEqual([errors, agent.output], [[], []]);
  });
});

/** Waits until the engine has done so much more. */
async function happened({ agent }: NodeInTrouble, events: number): Promise<void> {
  const from = agent.engine.events.length;
  await agent.until(`${events} engine events`, () => agent.engine.events.length >= from + events);
}

/** Pods of which a container was started more than once. */
function startedAgain(events: readonly SeenEvent[]): readonly string[] {
  const started = events.filter(({ action, container }) => action === 'start' && container === 'app').map(({ uid }) => uid);
  return started.filter((uid, index) => started.indexOf(uid) < index);
}

/** Containers that ran beside another one of the same pod and name. */
function twiceAtOnce(events: readonly SeenEvent[]): readonly string[] {
  const running = new Map<string, string>();
  const twice: string[] = [];
  for (const { action, uid, container, id, pod: name } of events) {
    const key = `${uid} ${container}`;
    if (action === 'start') {
      if (running.has(key) && running.get(key) !== id) twice.push(`${name} ${container}`);
      running.set(key, id);
    } else if (action === 'die' && running.get(key) === id) running.delete(key);
  }
  return twice;
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
