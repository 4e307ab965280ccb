import type { Node } from '../model/node.ts';
import type { KubeletOptions } from '../options/kubelet-options.ts';
import { initialNode } from './initial-node.ts';

/** The Node that this machine is, but for its status. */
export function nodeToRegister(options: KubeletOptions): Node {
  const { nodeName, nodeLabels, registerWithTaints, registerSchedulable, providerId, enableControllerAttachDetach } = options;
  return initialNode({
    nodeName,
    hostname: nodeName,
    arch: process.arch,
    nodeLabels,
    registerWithTaints,
    registerSchedulable,
    providerId,
    externalCloudProvider: options.cloudProvider === 'external',
    enableControllerAttachDetach,
  });
}
