import { aborted } from '../base/aborted.ts';
import { drainInto } from '../base/drain-into.ts';
import { selinuxIsOn } from '../base/selinux-is-on.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { podNetwork } from './pod-network.ts';

export type NetworkNeeds = Pick<NodeParts, 'options' | 'clock' | 'node' | 'cluster' | 'events' | 'folded' | 'engine' | 'pods' | 'wake'>;

/** What a pod sees of its network besides the network itself: host name, resolver, hosts file. */
export function capability({ options, clock, node, cluster, events, folded, engine, pods, wake }: NetworkNeeds): Contribution {
  const { rootDir, nodeName, clusterDns, clusterDomain, resolvConf } = options;
  const network = podNetwork({
    rootDir,
    nodeName,
    nodeIps: node.ips,
    clusterDns,
    clusterDomain,
    resolvConf,
    selinux: selinuxIsOn(),
    inCluster: cluster.exists,
    clock,
    events,
    log: folded,
  });
  return {
    pod: {
      sandbox: (pod) => network.sandbox(pod),
      container: async (pod, container, { podIps }) => ({ mounts: await network.hostsMounts(pod, container, await podIps()) }),
    },
    services: [
      {
        name: 'resolver check',
        stage: 'before pods',
        run: async (signal) => {
          await network.checkNodeFile();
          await aborted(signal);
        },
      },
      {
        name: 'network changes',
        stage: 'before pods',
        run: (signal) =>
          drainInto(
            engine.networkChanges,
            () => {
              for (const { pod } of pods.list()) wake(pod.metadata.uid, 'network changed');
            },
            signal,
          ),
      },
    ],
  };
}
