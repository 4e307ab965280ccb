import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/logger.ts';
import type { Staged } from '../../../ports/staged.ts';
import type { KnownFeatures } from '../../common/known-features.ts';
import type { DockerFeatures } from './engine-features.ts';
import { rootlessLimits, type RootlessMachine } from './rootless-limits.ts';
import { saidOnce } from './said-once.ts';

export interface RootlessNoteDeps {
  readonly features: Pick<KnownFeatures<DockerFeatures>, 'now'>;
  readonly machine: () => Promise<Omit<RootlessMachine, 'cgroups'>>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Pick<Logger, 'warn'>;
}

/** Says once, as soon as the engine answers, what its pods go without where it runs without root. */
export function rootlessNote({ features, machine, clock, log }: RootlessNoteDeps): Staged {
  const say = async (signal: AbortSignal): Promise<void> => {
    const { rootless, cgroups } = await features.now(signal);
    if (!rootless) return;
    for (const { cannot, toDo } of rootlessLimits({ ...(await machine()), cgroups }))
      log.warn('the engine runs without root', { cannot, toDo });
  };
  return {
    name: 'limits without root',
    stage: 'before pods',
    run: saidOnce(say, clock),
  };
}
