import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KnownPods } from '../../../src/explain/known-pods.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import { aPodThat } from '../../builders/pods-that.ts';
import { type AgentOnFakeEngine, agentOnFakeEngine, always } from '../../fakes/agent-on-fake-engine.ts';

const HOUR_MS = 3_600_000;
const uid = 'uid-web' as PodUid;

type Agent = AgentOnFakeEngine & { readonly known: () => KnownPods };

/** An agent with the memory of what explains. */
function anAgent(remembersGone: boolean, over: Pick<Partial<AgentOnFakeEngine>, 'clock' | 'engine'> = {}): Agent {
  let known: KnownPods | undefined;
  const remembers = always('explain', ({ clock, pods }) => {
    known = new KnownPods({ clock, pods, remembersGone });
    return { listener: known.listener };
  });
  return {
    ...agentOnFakeEngine({ ...over, capabilities: [remembers] }),
    known: () => {
      assert.ok(known);
      return known;
    },
  };
}

test('an agent that keeps nothing of the past knows nothing of a pod that has ended', async () => {
  const agent = anAgent(false);
  agent.declare([aPodThat('web')]);
  await agent.clock.advance(1_000);
  assert.deepEqual(agent.known().uids(), [uid]);
  agent.declare([]);
  await agent.clock.advance(60_000);
  assert.deepEqual(agent.engine.controls.world(), []);
  assert.deepEqual(agent.known().uids(), []);
  await agent.close();
});

test('a pod that was found and that nobody declares is gone once it has ended, and forgotten after an hour', async () => {
  const first = anAgent(true);
  first.declare([aPodThat('web')]);
  await first.clock.advance(1_000);
  await first.stop();
  const { clock, engine } = first;
  const next = anAgent(true, { clock, engine });
  next.declare([]);
  await clock.advance(60_000);
  assert.deepEqual(engine.controls.world(), []);
  assert.ok(next.known().get(uid)?.goneAtMs);
  await clock.advance(HOUR_MS);
  assert.deepEqual(next.known().uids(), []);
  await next.close();
});
