import type { Logger } from './base/logger.ts';
import type { NodeUse } from './model/node-use.ts';
import type { Node, ResourceList } from './model/node.ts';
import { admitPod, type PodRefusal } from './model/pod-admission.ts';
import { type Pod, showPod } from './model/pod.ts';
import { Quantity } from './model/quantity.ts';
import { appArmorHost } from './node/app-armor-host.ts';
import { initialNode } from './node/initial-node.ts';
import { readFileSystemBytes, readMachineFacts } from './node/machine-facts.ts';
import { machineInfo } from './node/machine-info.ts';
import type { KubeletOptions } from './options/kubelet-options.ts';

export interface AdmissionDeps {
  readonly log: Logger;
  /** The node as the API server shows it; undefined: there is none, or it is not known yet. */
  readonly node: () => Node | undefined;
}

export interface Admission {
  /** Why a pod may not run beside these, which is logged; undefined: it may. */
  readonly judge: (pod: Pod, others: NodeUse) => PodRefusal | undefined;
  /** What the node has for pods: as the API server shows it, else as the machine is. */
  readonly allocatable: () => ResourceList;
}

/** Who may run here. A node that no API server knows is judged by the machine that it is. */
export async function admissionPart(options: KubeletOptions, { log, node }: AdmissionDeps): Promise<Admission> {
  const ofMachine = await machineAllocatable(options).catch((error: unknown) => {
    log.warn('the machine cannot be read: pods are not refused for want of resources', { error });
    return undefined;
  });
  const own = nodeFromOptions(options);
  const rules = {
    allowedUnsafeSysctls: options.allowedUnsafeSysctls,
    privileges: {
      allowPrivileged: options.allowPrivileged,
      hostNetworkSources: options.hostNetworkSources,
      hostPidSources: options.hostPidSources,
      hostIpcSources: options.hostIpcSources,
    },
    appArmor: appArmorHost(),
  };
  const known = (): Node => {
    const found = node() ?? own;
    if (found.status?.allocatable !== undefined || ofMachine === undefined) return found;
    return { ...found, status: { ...found.status, allocatable: ofMachine } };
  };
  return {
    judge: (pod, otherPods) => {
      const refusal = admitPod({ pod, otherPods, node: known() }, rules);
      if (refusal) log.warn('the pod is refused', { pod: showPod(pod), ...refusal });
      return refusal;
    },
    allocatable: () => known().status?.allocatable ?? {},
  };
}

/** The Node that this machine is, but for its status: the one to register, where nodes are. */
export function nodeFromOptions({ nodeName, nodeLabels, registerWithTaints, registerSchedulable, providerId }: KubeletOptions): Node {
  return initialNode({
    nodeName,
    hostname: nodeName,
    arch: process.arch,
    nodeLabels,
    registerWithTaints,
    registerSchedulable,
    providerId,
    externalCloudProvider: false,
    enableControllerAttachDetach: true,
  });
}

async function machineAllocatable({ nodeName, maxPods, podsPerCore, rootDir }: KubeletOptions): Promise<ResourceList> {
  const [machine, storage] = await Promise.all([readMachineFacts({ root: '/' }), readFileSystemBytes(rootDir)]);
  const capacity = { 'ephemeral-storage': Quantity.of(storage, 'BinarySI').canonical() };
  return machineInfo({}, { nodeName, machine, maxPods, podsPerCore, capacity, reservation: {} }).allocatable;
}
