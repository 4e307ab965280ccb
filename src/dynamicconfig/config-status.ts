import { isDeepStrictEqual } from 'node:util';
import { startWith, type Observable } from 'rxjs';
import { coalesceMap } from '../base/coalesce-map.ts';
import { drainInto } from '../base/drain-into.ts';
import { exponential } from '../base/exponential.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import type { DownloadedSource, NodeConfigs } from '../model/node-config.ts';
import type { NodeParts } from '../ports/node-parts.ts';

const retryMs = exponential(1_000, 10_000);

/** Keeps Node.status.config as `configs` says, from when the Node is known, until the signal aborts. */
export function reportConfigs(
  { cluster, clock, log, node }: Pick<NodeParts, 'cluster' | 'clock' | 'log' | 'node'>,
  configs: () => NodeConfigs,
  changes: Observable<unknown>,
  signal: AbortSignal,
): Promise<void> {
  const faults = new OngoingFaults<'report'>();
  let sent: unknown;
  const send = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted;) {
      const config = statusConfig(configs());
      if (cluster.node() === undefined || isDeepStrictEqual(config, sent)) return;
      try {
        await cluster.clients.main.request(
          {
            method: 'PATCH',
            path: `/api/v1/nodes/${node.name}/status`,
            contentType: 'application/strategic-merge-patch+json',
            body: { status: { config } },
          },
          signal,
        );
        sent = config;
        if (faults.over('report')) log.info("the node's status says again which configuration is used");
      } catch (error) {
        if (signal.aborted) return;
        if (faults.fault('report', error)) log.warn("the node's status cannot say which configuration is used, retrying", { error });
        await clock.sleep(retryMs(++failures), signal).catch(() => {});
      }
    }
  };
  return drainInto(changes.pipe(startWith(undefined), coalesceMap(send)), () => {}, signal);
}

/** What is not set is removed. */
const statusConfig = ({ assigned, active, lastKnownGood, error }: NodeConfigs): object => ({
  assigned: inStatus(assigned),
  active: inStatus(active),
  lastKnownGood: inStatus(lastKnownGood),
  error: error ?? null,
});

const inStatus = (source: DownloadedSource | undefined): object | null => (source === undefined ? null : { configMap: source });
