import type { EngineFeatures } from '../../../ports/engine-features.ts';

/** Something that pods may ask for and cannot have here, and what people can do. */
export interface RootlessLimit {
  readonly cannot: string;
  readonly toDo: string;
}

export interface RootlessMachine {
  /** Whether the agent may mount, and give files to others: as root, or in the engine's user namespace. */
  readonly agentIsRoot: boolean;
  readonly cgroups: EngineFeatures['cgroups'];
  /** Ports below it are root's (net.ipv4.ip_unprivileged_port_start). */
  readonly firstOpenPort: number;
  /** Whether the agent is in the network that the pods are connected to. */
  readonly reachesPods: boolean;
}

const inItsNamespace = "run the agent in the engine's user namespace: podman unshare rxlet …";

/** What pods go without where the agent is not root. */
export const withoutRoot = (toDo: string): readonly RootlessLimit[] => [
  {
    cannot:
      'mount volumes that lie in memory (Secrets, tokens, the downward API, emptyDir of medium Memory) or on a server (nfs): pods with one wait',
    toDo,
  },
  { cannot: "give volumes to a pod's fsGroup, and remove what its containers wrote there as other users than root", toDo },
];

/** What pods of an ordinary user's engine go without. */
export function rootlessLimits({ agentIsRoot, cgroups, firstOpenPort, reachesPods }: RootlessMachine): readonly RootlessLimit[] {
  return [
    ...(agentIsRoot ? [] : withoutRoot(inItsNamespace)),
    ...(cgroups?.version === 2
      ? []
      : [
          {
            cannot: "hold containers to their limits of CPU, memory and processes: an ordinary user's have no cgroups of version 1",
            toDo: 'boot with cgroup v2 alone (systemd.unified_cgroup_hierarchy=1)',
          },
        ]),
    ...(firstOpenPort === 0
      ? []
      : [
          {
            cannot: `publish hostPorts below ${firstOpenPort}`,
            toDo: 'take higher ones, or lower net.ipv4.ip_unprivileged_port_start',
          },
        ]),
    ...(reachesPods
      ? []
      : [
          {
            cannot: 'connect to the addresses of pods, which only they and the engine reach: httpGet, tcpSocket and grpc probes fail',
            toDo: "run the agent in the engine's network: podman unshare --rootless-netns rxlet …; or probe by exec",
          },
        ]),
  ];
}
