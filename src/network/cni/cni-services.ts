import type { Observable } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import { drainInto } from '../../base/drain-into.ts';
import type { Logger } from '../../base/logger.ts';
import type { Service } from '../../base/service.ts';
import type { PodSummary, SandboxId } from '../../ports/container-runtime.ts';
import type { CniNetwork } from './cni-network.ts';

/** How often the configuration is looked at: when there is one (pkg/kubelet/dockershim/network/cni defaultSyncConfigPeriod), and while pods wait for one. */
const SYNC_MS = 5000;
const WAITING_MS = 500;

export interface CniServicesDeps {
  readonly network: CniNetwork;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Keeps the configuration that is in force up to date. */
export function cniConfiguration({ network, clock, log }: CniServicesDeps): Service {
  return {
    name: 'CNI configuration',
    run: async (signal) => {
      while (!signal.aborted) {
        await network.reload(signal).catch((error: unknown) => {
          if (!signal.aborted) log.warn('CNI configuration cannot be read', { error });
        });
        await clock.sleep(network.fault() === undefined ? SYNC_MS : WAITING_MS, signal).catch(() => {});
      }
    },
  };
}

export interface CniSweepDeps extends CniServicesDeps {
  /** What the engine has, from time to time. */
  readonly relists: Observable<readonly PodSummary[]>;
  /** What the engine has now. */
  readonly listPods: (signal: AbortSignal) => Promise<readonly PodSummary[]>;
}

/** Gives back what sandboxes still hold of the network that were found dead or gone: after a crash, of the agent or of the engine, nobody else does. */
export function cniSweep({ network, log, relists, listPods }: CniSweepDeps): Service {
  const sweep = async (listed: readonly PodSummary[], signal: AbortSignal): Promise<void> => {
    const alive = running(listed);
    const suspects = (await network.holders()).filter((id) => !alive.has(id));
    if (suspects.length === 0) return;
    // What was listed may be older than a sandbox that holds something now.
    const now = running(await listPods(signal));
    for (const id of suspects) {
      if (now.has(id)) continue;
      try {
        await network.tearDown(id, undefined, undefined, signal);
        log.v(2, 'network of a dead sandbox is given back', { sandbox: id });
      } catch (error) {
        if (signal.aborted) return;
        log.warn('network of a dead sandbox is not given back yet', { sandbox: id, error });
      }
    }
  };
  return {
    name: 'CNI sweep',
    run: async (signal) => {
      let under: Promise<void> | undefined;
      const onRelist = (listed: readonly PodSummary[]): void => {
        under ??= sweep(listed, signal)
          .catch((error: unknown) => {
            if (!signal.aborted) log.v(2, 'networks of dead sandboxes are looked for later', { error });
          })
          .finally(() => {
            under = undefined;
          });
      };
      await drainInto(relists, onRelist, signal);
      await under;
    },
  };
}

function running(pods: readonly PodSummary[]): ReadonlySet<SandboxId> {
  const sandboxes = pods.flatMap(({ parts }) => parts.filter(({ container, phase }) => container === 'POD' && phase === 'running'));
  return new Set(sandboxes.map(({ id }) => id as SandboxId));
}
