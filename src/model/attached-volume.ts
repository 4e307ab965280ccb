import type { Node } from './node.ts';

/** Whether a volume of that name may be mounted, and as which device; why not is in the kubelet's words (GenerateVerifyControllerAttachedVolumeFunc). */
export function attachedVolume(node: Node | undefined, name: string): { readonly fault: string } | { readonly devicePath: string } {
  if (node === undefined) return { fault: 'the Node is not known' };
  if (!(node.status?.volumesInUse ?? []).includes(name)) {
    return { fault: "Volume has not been added to the list of VolumesInUse in the node's volume status" };
  }
  const attached = (node.status?.volumesAttached ?? []).find((each) => each.name === name);
  return attached === undefined ? { fault: 'Volume not attached according to node status' } : { devicePath: attached.devicePath };
}
