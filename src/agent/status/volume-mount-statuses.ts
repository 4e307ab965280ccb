import type { Container, ContainerStatus } from '../../model/pod.ts';

type Mount = NonNullable<Container['volumeMounts']>[number];

/** What a container's status says of its mounts; `supported`: the engine can make a mount read-only with all that is below it. */
export function volumeMountStatuses({ volumeMounts = [] }: Container, supported: boolean): NonNullable<ContainerStatus['volumeMounts']> {
  return volumeMounts.map((mount) => ({
    name: mount.name,
    mountPath: mount.mountPath,
    ...(mount.readOnly && { readOnly: true, recursiveReadOnly: isRecursive(mount, supported) ? 'Enabled' : 'Disabled' }),
  }));
}

/** resolveRecursiveReadOnly in pkg/kubelet/kubelet_pods.go; what cannot be done is reported as not done. */
function isRecursive({ recursiveReadOnly, mountPropagation }: Mount, supported: boolean): boolean {
  const propagates = mountPropagation !== undefined && mountPropagation !== 'None';
  return supported && !propagates && (recursiveReadOnly === 'Enabled' || recursiveReadOnly === 'IfPossible');
}
