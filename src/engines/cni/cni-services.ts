import type { Observable } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import { drainInto } from '../../base/drain-into.ts';
import type { Logger } from '../../base/logger.ts';
import { withDeadline } from '../../base/with-deadline.ts';
import type { PodSummary, SandboxId } from '../../ports/container-runtime.ts';
import type { Staged } from '../../ports/staged.ts';
import type { CniNetwork } from './cni-network.ts';

/** How often the configuration is looked at: when there is one (pkg/kubelet/dockershim/network/cni defaultSyncConfigPeriod), and while pods wait for one. */
const SYNC_MS = 5000;
const WAITING_MS = 500;
/** Reading a configuration asks each of its plugins for its versions: one that hangs does not hold up the agent. */
const RELOAD_MS = 10_000;

export interface CniServicesDeps {
  readonly network: Pick<CniNetwork, 'reload' | 'fault'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Keeps the configuration that is in force up to date. Ready when the directory was read once, whether or not there is one. */
export function cniConfiguration({ network, clock, log }: CniServicesDeps): Required<Staged> {
  const read = Promise.withResolvers<void>();
  return {
    name: 'CNI configuration',
    stage: 'before pods',
    ready: () => read.promise,
    run: async (signal) => {
      while (!signal.aborted) {
        try {
          await withDeadline(clock, RELOAD_MS, 'reading the CNI configuration', signal, (within) => network.reload(within));
        } catch (error) {
          if (!signal.aborted) log.warn('CNI configuration cannot be read', { error });
        }
        read.resolve();
        await clock.sleep(network.fault() === undefined ? SYNC_MS : WAITING_MS, signal).catch(() => {});
      }
      read.resolve();
    },
  };
}

export interface CniSweepDeps extends CniServicesDeps {
  readonly network: CniServicesDeps['network'] & Pick<CniNetwork, 'holders' | 'tearDown'>;
  /** What the engine has, from time to time. */
  readonly relists: Observable<readonly PodSummary[]>;
  /** What the engine has now. */
  readonly listPods: (signal: AbortSignal) => Promise<readonly PodSummary[]>;
}

/** Releases what sandboxes that were found dead or gone still hold of the network: after a crash, of the agent or of the engine, nothing else does. */
export function cniSweep({ network, log, relists, listPods }: CniSweepDeps): Staged {
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
        log.v(2, 'network of a dead sandbox released', { sandbox: id });
      } catch (error) {
        if (signal.aborted) return;
        log.warn('network of a dead sandbox not released yet', { sandbox: id, error });
      }
    }
  };
  return {
    name: 'CNI sweep',
    stage: 'before pods',
    run: async (signal) => {
      let under: Promise<void> | undefined;
      const onRelist = (listed: readonly PodSummary[]): void => {
        under ??= sweep(listed, signal)
          .catch((error: unknown) => {
            if (!signal.aborted) log.v(2, 'networks of dead sandboxes not looked for; retrying', { error });
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
  const sandboxes = pods.flatMap(({ parts }) => parts.filter(({ container, phase }) => container === undefined && phase === 'running'));
  return new Set(sandboxes.map(({ id }) => id as SandboxId));
}
