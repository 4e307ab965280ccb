/** As the engine names it. */
export type ContainerId = string & { readonly __brand: 'ContainerId' };

/** A container's id in a pod's status is "docker://ID". */
export function containerIdOf(containerID: string): ContainerId {
  return containerID.replace(/^[^:/]*:\/\//, '') as ContainerId;
}
