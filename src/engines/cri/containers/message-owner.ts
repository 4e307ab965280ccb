import type { MessageOwner } from '../../common/containers/termination-messages.ts';
import type { ContainerStatus } from '../api/runtime_pb.js';

/** A container whose message is looked for, as the runtime shows it. */
export interface CriMessageOwner extends MessageOwner {
  /** Empty: it has none. */
  readonly logPath: string;
}

export function messageOwner({ id, mounts, logPath }: Pick<ContainerStatus, 'id' | 'mounts' | 'logPath'>): CriMessageOwner {
  return { id, mounts, logPath };
}
