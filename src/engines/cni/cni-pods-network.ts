import { join } from 'node:path';
import type { KubeletOptions } from '../../options/kubelet-options.ts';
import type { Ground } from '../../ports/node-parts.ts';
import type { PodsNetwork } from '../../ports/sandbox-network.ts';
import { CniNetwork } from './cni-network.ts';
import { pluginRunner } from './exec-plugin.ts';
import { netnsAddresses } from './netns-addresses.ts';
import { cniConfiguration, cniSweep } from './cni-services.ts';

/** The pods' network by CNI plugins, as the options name them. Nothing is read before its services run. */
export function cniPodsNetwork(
  { cniConfDir, cniBinDir, cniCacheDir, rootDir }: KubeletOptions,
  { clock, log }: Pick<Ground, 'clock' | 'log'>,
): PodsNetwork {
  const network = new CniNetwork({
    confDir: cniConfDir,
    binDirs: cniBinDir.split(',').filter((directory) => directory !== ''),
    cacheDir: cniCacheDir,
    ledgerDir: join(rootDir, 'sandbox-networks'),
    clock,
    log,
    exec: pluginRunner(clock),
    addressesIn: netnsAddresses,
  });
  const deps = { network, clock, log };
  return {
    sandboxes: network,
    changes: network.changes,
    services: ({ relists, listPods }) => [cniConfiguration(deps), cniSweep({ ...deps, relists, listPods })],
  };
}
