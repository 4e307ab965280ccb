import { defer, distinctUntilChanged, filter, map, of, retry, switchMap, timer } from 'rxjs';
import { drainInto } from '../base/drain-into.ts';
import { errorText } from '../base/error-text.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import type { Node } from '../model/node.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { Staged } from '../ports/staged.ts';

const AGAIN_AFTER_MS = 10_000;
/** Two ranges of IPv6 are far shorter. */
const MOST_CHARS = 200;

export type PodCidrParts = Pick<NodeParts, 'clock' | 'log'> & {
  readonly options: Pick<NodeParts['options'], 'podCidr'>;
  readonly engine: Pick<NodeParts['engine'], 'usePodCidr'>;
  readonly cluster: Pick<NodeParts['cluster'], 'exists' | 'nodeChanges'>;
};

/**
 * Tells the engine from which addresses pods get theirs: as the API server has it on this node, at once and whenever that changes; without an
 * API server as --pod-cidr says. Until the engine has taken it, it is told again each ten seconds, and the fault is said once. Undefined where
 * the engine wants to hear nothing of it.
 */
export function podCidrService({ clock, log, options, engine, cluster }: PodCidrParts): Staged | undefined {
  const { usePodCidr } = engine;
  if (usePodCidr === undefined || (!cluster.exists && options.podCidr === '')) return undefined;
  const faults = new OngoingFaults<string>();
  const tell = async (podCidr: string, signal: AbortSignal): Promise<void> => {
    try {
      await usePodCidr(podCidr, signal);
      log.info("the engine has the pods' range of addresses", { podCidr });
      faults.over('engine');
    } catch (error) {
      if (!signal.aborted && faults.fault('engine'))
        log.warn("the engine has not taken the pods' range of addresses, retrying", { podCidr, error: errorText(error) });
      throw error;
    }
  };
  const ranges = cluster.exists ? cluster.nodeChanges.pipe(map(rangesOf)) : of(options.podCidr);
  return {
    name: 'range of pods',
    stage: 'node',
    run: (signal) =>
      drainInto(
        ranges.pipe(
          filter((podCidr) => podCidr !== '' && podCidr.length <= MOST_CHARS),
          distinctUntilChanged(),
          switchMap((podCidr) => defer(() => tell(podCidr, signal)).pipe(retry({ delay: () => timer(AGAIN_AFTER_MS, clock) }))),
        ),
        () => {},
        signal,
      ),
  };
}

/** Older API servers have one range alone. */
const rangesOf = (node: Node | undefined): string => (node?.spec?.podCIDRs ?? [node?.spec?.podCIDR ?? '']).join(',');
