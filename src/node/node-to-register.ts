import type { Node } from '../model/node.ts';
import type { KubeletOptions } from '../options/kubelet-options.ts';
import { initialNode } from './initial-node.ts';

/** The Node that this machine is, but for its status. */
export function nodeToRegister({ nodeName, nodeLabels, registerWithTaints, registerSchedulable, providerId }: KubeletOptions): Node {
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
