import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/logger.ts';
import type { LogPolicy } from '../../../model/log-policy.ts';
import type { Staged } from '../../../ports/staged.ts';
import type { KnownFeatures } from '../../common/known-features.ts';
import type { DockerFeatures } from '../observe/engine-features.ts';
import { saidOnce } from '../observe/said-once.ts';

/** As a container's HostConfig has it. */
export interface LogConfig {
  readonly Type: string;
  readonly Config: Readonly<Record<string, string>>;
}

/**
 * What makes the engine rotate a container's log as the policy says; undefined where its logging driver has no files to rotate, and for no
 * policy: the engine's own settings hold then. They also hold for all that is not set here. Rotated files are not compressed: who follows the
 * log reads on in them. `oneFile`: the engine empties a full log, so that it may have the size of all its files.
 */
export function logConfig(driver: string, policy: LogPolicy | undefined, oneFile = false): LogConfig | undefined {
  if (oneFile)
    return { Type: driver, Config: policy === undefined ? {} : { 'max-size': String(Math.max(1, policy.maxSizeBytes * policy.maxFiles)) } };
  if (policy === undefined || !rotates(driver)) return undefined;
  // The engine takes no size of 0; from a byte on it is the same.
  const size = String(Math.max(1, policy.maxSizeBytes));
  return { Type: driver, Config: { 'max-size': size, 'max-file': String(policy.maxFiles), compress: 'false' } };
}

const rotates = (driver: string): boolean => driver === 'json-file' || driver === 'local' || driver === 'k8s-file';

export interface LogRotationNoteDeps {
  readonly features: Pick<KnownFeatures<DockerFeatures>, 'now'>;
  readonly policy: LogPolicy | undefined;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
}

/** Says once, as soon as the engine answers, who rotates the containers' logs. */
export function logRotationNote({ features, policy, clock, log }: LogRotationNoteDeps): Staged {
  const say = async (signal: AbortSignal): Promise<void> => {
    const { loggingDriver } = await features.now(signal);
    if (policy === undefined) {
      log.info("container logs are rotated as the engine's own settings say: containerLogMaxSize is negative", { loggingDriver });
    } else if (rotates(loggingDriver)) {
      const { maxSizeBytes, maxFiles } = policy;
      log.info('container logs are rotated by the engine; a container that was made before keeps its settings', {
        loggingDriver,
        maxSizeBytes,
        maxFiles,
      });
    } else {
      log.info("container logs are kept by the engine's logging driver, which has no files to rotate", { loggingDriver });
    }
  };
  return {
    name: 'log rotation',
    stage: 'beside pods',
    run: saidOnce(say, clock),
  };
}
