import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../src/model/pod.ts';
import { aPodThat, edited, server } from '../../builders/pods-that.ts';
import { ExecutionCounter, type Executions, grewMoreThan } from '../../builders/executions.ts';
import { ClusterScenario } from '../../fakes/cluster-scenario.ts';

const FEW = 40;
const TIMES = 4;
/**
 * Four times as many pods may cost four times as much, and some more for sorting and where few do not fill what is limited. Walking all of
 * them for each would cost sixteen times as much.
 */
const MARGIN = 2;

const names = (count: number, kind: string): readonly string[] => Array.from({ length: count }, (_, i) => `${kind}-${i}`);

interface Life {
  readonly it: ClusterScenario;
  readonly manifests: readonly Pod[];
  readonly bound: readonly Pod[];
}

/** Half of the pods are static, half are bound by a scheduler. */
const phases: Readonly<Record<string, (life: Life) => Promise<void>>> = {
  start: async ({ it, manifests, bound }) => {
    it.declare(...manifests);
    for (const pod of bound) it.create(pod);
    await it.advance(30_000);
    assert.equal(it.running().length, 2 * (manifests.length + bound.length));
  },
  'five minutes at rest': ({ it }) => it.advance(300_000),
  'the end of each container, and its restart': async ({ it, manifests, bound }) => {
    const apps = it.world().filter(({ name }) => name === 'app');
    assert.equal(apps.length, manifests.length + bound.length);
    for (const { id } of apps) it.engine.controls.kill(id, { exitCode: 1 });
    await it.advance(30_000);
  },
  'an edit of each manifest': async ({ it, manifests }) => {
    it.declare(...manifests.map((pod) => edited(pod, `${pod.metadata.uid}-2`, { containers: [server('app', { args: ['2'] })] })));
    await it.advance(60_000);
  },
  removal: async ({ it, bound }) => {
    it.declare();
    for (const pod of bound) await it.delete(pod, 1);
    await it.advance(60_000);
    assert.equal(it.world().length, 0);
  },
};

async function lifeOf(count: number, counter: ExecutionCounter): Promise<Readonly<Record<string, Executions>>> {
  const it = new ClusterScenario();
  it.declare();
  await it.advance(1000);
  const life = {
    it,
    manifests: names(count / 2, 'static').map((name) => aPodThat(name, { containers: [server('app')] })),
    bound: names(count / 2, 'bound').map((name) => aPodThat(name, { containers: [server('app')] })),
  };
  const found: Record<string, Executions> = {};
  for (const [phase, live] of Object.entries(phases)) {
    await counter.take();
    await live(life);
    found[phase] = await counter.take();
  }
  await it.close();
  return found;
}

test('what a pod costs does not depend on how many others there are: nothing is walked for each', async (t) => {
  const counter = new ExecutionCounter();
  await counter.start();
  t.after(() => counter.stop());
  const few = await lifeOf(FEW, counter);
  const many = await lifeOf(FEW * TIMES, counter);
  const grown = Object.fromEntries(
    Object.keys(phases).flatMap((phase) => {
      const places = grewMoreThan(TIMES * MARGIN, few[phase] ?? new Map(), many[phase] ?? new Map(), 10 * FEW * TIMES);
      return places.length === 0 ? [] : [[phase, places]];
    }),
  );
  assert.deepEqual(grown, {});
});
