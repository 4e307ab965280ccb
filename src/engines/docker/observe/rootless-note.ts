import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/logger.ts';
import type { Staged } from '../../../ports/staged.ts';
import type { KnownFeatures } from '../../common/known-features.ts';
import type { DockerFeatures } from './engine-features.ts';
import { rootlessLimits, type RootlessMachine, withoutRoot } from './rootless-limits.ts';
import { saidOnce } from './said-once.ts';

export interface RootlessNoteDeps {
  readonly features: Pick<KnownFeatures<DockerFeatures>, 'now'>;
  readonly machine: () => Promise<Omit<RootlessMachine, 'cgroups'>>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Says once, as soon as the engine answers, what its pods go without where it runs without root, or the agent does. A kubelet says so as well,
 * and goes on (checkPermissions in cmd/kubelet/app).
 */
export function rootlessNote({ features, machine, clock, log }: RootlessNoteDeps): Staged {
  const say = async (signal: AbortSignal): Promise<void> => {
    const { rootless, cgroups } = await features.now(signal);
    const here = await machine();
    const message = rootless ? 'the engine runs without root' : 'the agent runs without root';
    const ofAgent = here.agentIsRoot ? [] : withoutRoot('run the agent as root');
    for (const { cannot, toDo } of rootless ? rootlessLimits({ ...here, cgroups }) : ofAgent) log.warn(message, { cannot, toDo });
  };
  return {
    name: 'limits without root',
    stage: 'before pods',
    run: saidOnce(say, clock),
  };
}
