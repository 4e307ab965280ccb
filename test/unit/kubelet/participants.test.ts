import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { fakeEngine, type FakeEngine } from '../../../src/engines/fake/fake-engine.ts';
import type { Pod, PodUid } from '../../../src/model/pod.ts';
import type { NodeParts } from '../../../src/ports/node-parts.ts';
import type { PodCgroup, PodParticipant } from '../../../src/ports/pod-participant.ts';
import { aPodThat } from '../../builders/pods-that.ts';
import { type AgentOnFakeEngine, agentOnFakeEngine, always } from '../../fakes/agent-on-fake-engine.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const forever = <T>(): Promise<T> => new Promise(() => {});

function anAgent(
  participant: PodParticipant,
  over: Parameters<typeof agentOnFakeEngine>[0] = {},
): AgentOnFakeEngine & { readonly node: () => NodeParts } {
  let node: NodeParts | undefined;
  const agent = agentOnFakeEngine({
    ...over,
    capabilities: [
      always('broken', (parts) => {
        node = parts;
        return { pod: participant };
      }),
    ],
  });
  return {
    ...agent,
    node: () => {
      assert.ok(node);
      return node;
    },
  };
}
const running = ({ engine }: AgentOnFakeEngine): readonly string[] =>
  engine.controls
    .world()
    .filter(({ state, role }) => state.phase === 'running' && role.kind === 'container')
    .map(({ podName, name }) => `${podName}/${name}`)
    .sort();
const isBad = ({ metadata }: Pod): boolean => metadata.name === 'bad';
const badUid = 'uid-bad' as PodUid;

const withinAMinute = async (agent: AgentOnFakeEngine): Promise<boolean> => {
  let ended = false;
  const done = agent.stop().then(() => (ended = true));
  done.catch(() => (ended = true));
  await agent.clock.advance(60_000);
  return ended;
};

const ways: Record<string, () => Promise<never>> = {
  hangs: forever,
  rejects: () => Promise.reject(new Error('broken')),
  throws: () => {
    throw new Error('broken');
  },
};
const verbs = {
  admit: (way: () => Promise<never>): PodParticipant => ({ admit: (pod) => (isBad(pod) ? way() : Promise.resolve(undefined)) }),
  makeRoom: (way: () => Promise<never>): PodParticipant => ({
    admit: async (pod) => (isBad(pod) ? { reason: 'OutOfcpu', message: 'full' } : undefined),
    makeRoom: (pod) => (isBad(pod) ? way() : Promise.resolve(false)),
  }),
  prepare: (way: () => Promise<never>): PodParticipant => ({ prepare: (pod) => (isBad(pod) ? way() : Promise.resolve(undefined)) }),
  sandbox: (way: () => Promise<never>): PodParticipant => ({ sandbox: (pod) => (isBad(pod) ? way() : Promise.resolve({})) }),
  container: (way: () => Promise<never>): PodParticipant => ({ container: (pod) => (isBad(pod) ? way() : Promise.resolve({})) }),
  release: (way: () => Promise<never>): PodParticipant => ({ release: (uid) => (uid === badUid ? way() : Promise.resolve()) }),
};

for (const [verb, participant] of Object.entries(verbs))
  for (const [how, way] of Object.entries(ways)) {
    test(`where a participant's ${verb} ${how}, other pods run and end, and so does the agent`, async () => {
      const agent = anAgent(participant(way));
      agent.declare([aPodThat('bad'), aPodThat('good')]);
      await agent.clock.advance(150_000);
      assert.ok(running(agent).includes('good/app'), 'the other pod runs');
      agent.declare([aPodThat('good')]);
      await agent.clock.advance(120_000);
      assert.deepEqual(running(agent), ['good/app'], 'removed');
      agent.declare([aPodThat('good'), aPodThat('late')]);
      await agent.clock.advance(120_000);
      assert.deepEqual(running(agent), ['good/app', 'late/app']);
      assert.ok(await withinAMinute(agent), 'the agent ends');
    });
  }

test('a pod that was refused when another asked has its event, its record and its status', async () => {
  const clock = new FakeClock();
  const engine = fakeEngine({ clock, log: silentLogger });
  const slow = new Proxy(engine.runtime, {
    get: (runtime, name: keyof FakeEngine['runtime']) => {
      if (name !== 'observePod') return typeof runtime[name] === 'function' ? runtime[name].bind(runtime) : runtime[name];
      return async (uid: PodUid, signal: AbortSignal) => {
        if (uid === badUid) await clock.sleep(500, signal);
        return runtime.observePod(uid, signal);
      };
    },
  });
  const agent = anAgent(
    { admit: async (pod) => (isBad(pod) ? { reason: 'OutOfcpu', message: 'full' } : undefined) },
    { clock, engine: { ...engine, runtime: slow } },
  );
  agent.declare([aPodThat('bad'), aPodThat('good')]);
  await clock.advance(5_000);
  assert.equal(agent.statuses.get(badUid)?.reason, 'OutOfcpu');
  const because = agent.records.filter(({ uid }) => uid === badUid).flatMap(({ plan }) => plan.because);
  assert.equal(because.filter((why) => why === 'admit refused: OutOfcpu: full').length, 1);
  assert.equal(agent.events.filter(({ reason }) => reason === 'OutOfcpu').length, 1);
  await agent.close();
});

test('what a pod was given that went while it was judged is released once more, also after a release that failed', async () => {
  const held = new Set<PodUid>();
  const gate = Promise.withResolvers<void>();
  let releases = 0;
  const agent = anAgent({
    admit: async ({ metadata }) => {
      if (metadata.uid !== badUid) return undefined;
      await gate.promise;
      held.add(metadata.uid);
      return undefined;
    },
    release: async (uid) => {
      if (held.has(uid) && ++releases === 1) throw new Error('busy');
      held.delete(uid);
    },
  });
  // The other one asks for both.
  agent.declare([aPodThat('good'), aPodThat('bad')]);
  await agent.clock.advance(1_000);
  agent.declare([aPodThat('good')]);
  await agent.clock.advance(2_000);
  gate.resolve();
  await agent.clock.advance(20_000);
  assert.deepEqual([...held], []);
  assert.equal(releases, 2);
  assert.deepEqual(running(agent), ['good/app']);
  await agent.close();
});

test('a pod that is declared again, under the same uid, while it is judged is judged as what it is now', async () => {
  const judged: (string | undefined)[] = [];
  const gate = Promise.withResolvers<void>();
  const agent = anAgent({
    admit: async ({ metadata, spec }) => {
      if (metadata.uid !== badUid) return undefined;
      judged.push(spec.hostname);
      if (spec.hostname === 'before') await gate.promise;
      return undefined;
    },
  });
  agent.declare([aPodThat('good'), aPodThat('bad', { hostname: 'before' })]);
  await agent.clock.advance(1_000);
  agent.declare([aPodThat('good')]);
  await agent.clock.advance(1_000);
  agent.declare([aPodThat('good'), aPodThat('bad', { hostname: 'after' })]);
  await agent.clock.advance(1_000);
  gate.resolve();
  await agent.clock.advance(10_000);
  assert.deepEqual(judged, ['before', 'after']);
  assert.deepEqual(running(agent), ['bad/app', 'good/app']);
  await agent.close();
});

test('a pod whose admission hangs is told why in its record, and its deletion waits for nothing', async () => {
  const agent = anAgent({ admit: (pod) => (isBad(pod) ? forever() : Promise.resolve(undefined)) });
  agent.declare([aPodThat('bad')]);
  await agent.clock.advance(20_000);
  assert.match(agent.records.flatMap(({ plan }) => plan.because).join('; '), /admit failed: admission took longer than 10 s/);
  agent.declare([]);
  await agent.clock.advance(15_000);
  assert.ok(agent.records.at(-1)?.outcomes.some(({ action, error }) => action.do === 'release' && error === undefined));
  await agent.close();
});

test("the status of a running pod shows what its cgroup is set to, also where that follows the pod's resources later", async () => {
  const set: { cgroup?: PodCgroup } = {};
  const agent = anAgent({ cgroup: () => set.cgroup });
  const half = { cpu: '500m', memory: '64Mi' };
  const pod: Pod = { ...aPodThat('web', { resources: { requests: half, limits: half } }), status: { phase: 'Running' } };
  agent.declare([pod]);
  await agent.clock.advance(10_000);
  const { uid } = pod.metadata;
  assert.deepEqual(agent.statuses.get(uid)?.resources, { requests: half, limits: half });
  set.cgroup = { cpuShares: 256, cpuQuota: 25_000, cpuPeriod: 100_000, memory: 32 * 2 ** 20 };
  agent.node().wake(uid, 'resources changed');
  await agent.clock.advance(1_000);
  assert.deepEqual(agent.statuses.get(uid)?.resources, {
    requests: { cpu: '250m', memory: '64Mi' },
    limits: { cpu: '250m', memory: '32Mi' },
  });
  await agent.stop();
});
