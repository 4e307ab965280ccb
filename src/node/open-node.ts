import type { Clock } from '../base/clock.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { withDeadline } from '../base/with-deadline.ts';
import type { Node, NodeAddress, ResourceList } from '../model/node.ts';
import { Quantity } from '../model/quantity.ts';
import type { KubeletOptions } from '../options/kubelet-options.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Ground } from '../ports/node-parts.ts';
import type { ThisNode } from '../ports/this-node.ts';
import { hostIps } from './host-ips.ts';
import { parseNodeIps } from './ip-address.ts';
import { keepKernelDefaults } from './kernel-defaults.ts';
import { type MachineFacts, type MachinePaths, readFileSystemBytes, readMachineFacts } from '../base/machine-facts.ts';
import { machineFault } from './machine-fault.ts';
import { machineInfo } from './machine-info.ts';
import { type MachineResources, nodeResources } from './node-resources.ts';
import { nodeToRegister } from './node-to-register.ts';

export interface OpenNodeDeps extends Pick<Ground, 'live' | 'clock' | 'log'> {
  readonly cgroups: Pick<Ground['cgroups'], 'version'>;
  readonly cluster: Pick<Cluster, 'node'>;
}

/** A root directory on a server that does not answer delays the start by this much. */
const MACHINE_DEADLINE_MS = 5_000;

/**
 * This node: as the API server shows it, and as the machine is where that is not known. A machine that cannot be read is logged: it has no
 * resources, and no pod is refused for want of them. Throws for --node-ip that cannot be used, and
 * where the options refuse such a machine.
 */
export async function openNode(options: KubeletOptions, deps: OpenNodeDeps, paths: MachinePaths = { root: '/' }): Promise<ThisNode> {
  const { live, clock, log, cluster, cgroups } = deps;
  const { nodeName, nodeIp } = options;
  const ips = hostIps(parseNodeIps(nodeIp));
  const initial = nodeToRegister(options);
  const machine = await readMachine(options, clock, paths).catch((error: unknown) => {
    log.warn('machine facts not read: pods are not refused for want of resources', { error });
    return undefined;
  });
  const fault = machineFault(options, { swapBytes: machine?.facts.swapBytes, cgroup: cgroups.version });
  if (fault !== undefined) throw new Error(fault);
  await keepKernelDefaults(options.protectKernelDefaults, { root: paths.root, log });
  const ofMachine = machine && machineResources(options, live, machine);
  const shown = (): Node | undefined => cluster.node();
  const resources = nodeResources({ ofMachine, settings: () => [live.now.maxPods, live.now.podsPerCore], shown });
  return {
    name: nodeName,
    ips,
    initial,
    known: () => {
      const node = shown() ?? initial;
      if (node.status?.allocatable !== undefined || ofMachine === undefined) return node;
      return { ...node, status: { ...node.status, allocatable: resources.allocatable() } };
    },
    addresses: () => shown()?.status?.addresses ?? ips.map((address): NodeAddress => ({ type: 'InternalIP', address })),
    resources,
  };
}

interface Machine {
  readonly facts: MachineFacts;
  /** Of the root directory's file system. */
  readonly storageBytes: bigint;
}

/** Reads the machine once. */
async function readMachine({ rootDir }: KubeletOptions, clock: Clock, paths: MachinePaths): Promise<Machine> {
  const { signal } = new AbortController();
  const [facts, storageBytes] = await withDeadline(clock, MACHINE_DEADLINE_MS, 'reading the machine', signal, (within) =>
    unlessAborted(Promise.all([readMachineFacts(paths), readFileSystemBytes(rootDir)]), within),
  );
  return { facts, storageBytes };
}

function machineResources(
  { nodeName, localStorageCapacityIsolation }: KubeletOptions,
  live: Ground['live'],
  { facts: machine, storageBytes }: Machine,
): MachineResources {
  const storage = Quantity.of(storageBytes, 'BinarySI').canonical();
  const capacity: ResourceList = localStorageCapacityIsolation ? { 'ephemeral-storage': storage } : {};
  return (reservation, provided) => {
    const { maxPods, podsPerCore } = live.now;
    const devices = { ...provided, removed: [] };
    return machineInfo({}, { nodeName, machine, maxPods, podsPerCore, capacity, reservation, devices });
  };
}
