import { BEHAVIOUR_ANNOTATION } from '../../src/engines/fake/container-behaviour.ts';
import { seededRandom } from '../../src/base/seeded-random.ts';
import type { Pod } from '../../src/model/pod.ts';
import { aContainer, aPod } from '../builders/a-pod.ts';
import type { AgentOnFakeEngine } from './agent-on-fake-engine.ts';

const behaviours: readonly string[] = [
  'exit=1,1,0 after=3s',
  'exit=1 after=2s',
  'term=ignore',
  'pull=slow:5s',
  'pull=fail:no such manifest',
  'pull=unavailable',
  'start=fail:no such command',
  '',
];

const shapes = behaviours.map((behaviour, at): Pod =>
  aPod(
    `pod-${at}`,
    { terminationGracePeriodSeconds: 3, containers: [aContainer('app', { image: `image-${at}:1` })] },
    behaviour === '' ? {} : { annotations: { [`${BEHAVIOUR_ANNOTATION}app`]: behaviour } },
  ),
);

/** Trouble for so long: crashes, kills, slow and failing pulls, lost hints and answers, engine outages, manifests that change. The same for the same seed. */
export async function chaos(agent: AgentOnFakeEngine, seconds: number, seed: number): Promise<void> {
  const { clock, engine } = agent;
  const random = seededRandom(seed);
  const oneOf = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];
  const { controls } = engine;
  let declared: readonly Pod[] = shapes;
  let edits = 0;
  agent.declare(declared);
  const troubles: readonly (() => void)[] = [
    () => {
      const running = oneOf(controls.world().filter(({ state }) => state.phase === 'running'));
      if (running) controls.kill(running.id, { exitCode: 137 });
    },
    () => controls.restart({ downMs: 4_000, liveRestore: random() < 0.5 }),
    () => controls.fail('startContainer', undefined, 2),
    () => controls.loseAnswer('runSandbox'),
    () => controls.fail('observePod'),
    () => controls.fail('listPods'),
    () => controls.dropHints(random() < 0.5),
    () => {
      const pod = oneOf(shapes);
      declared = declared.includes(pod as Pod) ? declared.filter((each) => each !== pod) : [...declared, pod as Pod];
      agent.declare(declared);
    },
    () => {
      edits++;
      declared = declared.map((each, at) =>
        at === 0
          ? {
              ...each,
              spec: { ...each.spec, containers: [aContainer('app', { image: each.spec.containers[0]!.image!, args: [`${edits}`] })] },
            }
          : each,
      );
      agent.declare(declared);
    },
    () => controls.heal(),
  ];
  for (let at = 0; at < seconds; at += 5) {
    oneOf(troubles)?.();
    await clock.until(clock.sleep(5_000), 50);
  }
}
