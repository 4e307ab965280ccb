import { gracePeriodSeconds, gracePeriodsOf } from '../../../src/agent/reconcile/kill-grace-period.ts';
import { stopsAfter } from '../../../src/agent/reconcile/stops-after.ts';
import type { Pod } from '../../../src/model/pod.ts';

type In =
  | { readonly op: 'order'; readonly pod: Pod; readonly running: readonly string[] }
  | { readonly op: 'grace'; readonly pod: Pod; readonly container: string; readonly reason: string };

const probes = new Map([
  ['StartupProbe', 'startupProbe'],
  ['LivenessProbe', 'livenessProbe'],
] as const);

export function run(input: In): unknown {
  const { pod } = input;
  if (input.op === 'order') {
    const running = new Set(input.running);
    return Object.fromEntries(input.running.map((name) => [name, stopsAfter(pod, name, running).toSorted()]));
  }
  const container = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].find(({ name }) => name === input.container);
  const probe = probes.get(input.reason as 'StartupProbe');
  return gracePeriodSeconds(gracePeriodsOf(pod), probe && container?.[probe]?.terminationGracePeriodSeconds);
}
