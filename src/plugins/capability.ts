import { join } from 'node:path';
import { exponential } from '../base/exponential.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { PluginRegistry } from './plugin-registry.ts';
import { SocketTree } from './socket-tree.ts';

/** What comes at once is one look; and between the socket and who listens on it there is a moment. */
const SETTLE_MS = 50;
/** A look at many thousand names takes a while: while these go on changing, so many times as long is waited before the next one. */
const REST = 9;
const LONGEST_REST_MS = 5_000;
const retryMs = exponential(1_000, 60_000);

/**
 * Plugins register by a socket in a directory of the node: they are asked who they are, given to the handler of their type, and told what became
 * of it (pkg/kubelet/pluginmanager). While nothing changes in the directory nothing runs.
 */
export function capability({ options, clock, random, log }: Pick<NodeParts, 'options' | 'clock' | 'random' | 'log'>): Contribution {
  const directory = join(options.rootDir, 'plugins_registry');
  let registry: PluginRegistry | undefined;
  return {
    metricTexts: [async () => (registry === undefined ? '' : (await import('./total-plugins.ts')).totalPlugins(registry.paths()))],
    services: [
      {
        name: 'plugin registration',
        stage: 'before pods',
        run: async (signal, { plugins: handlers }) => {
          const tree = new SocketTree(directory, log);
          // The first socket loads it, and what speaks to it.
          const open = async (): Promise<PluginRegistry> => {
            const [{ PluginRegistry: Registry }, { openPluginConnection }] = await Promise.all([
              import('./plugin-registry.ts'),
              import('./plugin-connection.ts'),
            ]);
            return new Registry({ handlers, clock, log, connect: (socketPath) => openPluginConnection(socketPath, clock, random) });
          };
          const faults = new OngoingFaults<string>();
          try {
            for (let failures = 0; !signal.aborted;) {
              try {
                const beganMs = clock.monotonicMs();
                const sockets = await tree.look();
                const restMs = Math.min(LONGEST_REST_MS, REST * (clock.monotonicMs() - beganMs));
                if (sockets.size > 0) registry ??= await open();
                registry?.update(sockets);
                failures = 0;
                faults.clear();
                await tree.changed(signal);
                await clock.sleep(Math.max(SETTLE_MS, restMs), signal);
              } catch (error) {
                if (signal.aborted) break;
                if (faults.fault(directory, error))
                  log.warn('plugins that come and go are not noticed: their directory cannot be watched', { directory, error });
                await clock.sleep(retryMs(++failures), signal).catch(() => {});
              }
            }
          } finally {
            tree.close();
            await registry?.stop();
          }
        },
      },
    ],
  };
}
