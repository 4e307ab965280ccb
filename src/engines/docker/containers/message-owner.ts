import type { ContainerInspectInfo } from 'dockerode';
import type { MessageOwner } from '../../common/containers/termination-messages.ts';

/** A container whose message is looked for, as the engine shows it. */
export interface DockerMessageOwner extends MessageOwner {
  readonly info: ContainerInspectInfo;
}

export function messageOwner(info: ContainerInspectInfo): DockerMessageOwner {
  return { id: info.Id, mounts: info.Mounts.map(({ Source, Destination }) => ({ hostPath: Source, containerPath: Destination })), info };
}
