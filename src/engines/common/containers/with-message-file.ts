import type { Pod } from '../../../model/pod.ts';
import type { ContainerSpec } from '../../../ports/container-runtime.ts';
import type { MessageFile, MessageOwner, TerminationMessages } from './termination-messages.ts';

export interface MessageMounting<O extends MessageOwner> {
  readonly messages: TerminationMessages<O>;
  /** Whether the machine labels processes and files. */
  readonly selinux: boolean;
}

/** The spec with the file of the container's termination message among its mounts: that of `ahead`, where it is of the same attempt. */
export async function withMessageFile<O extends MessageOwner>(
  { messages, selinux }: MessageMounting<O>,
  pod: Pod,
  spec: ContainerSpec,
  ahead: { readonly attempt: number; readonly message: MessageFile | undefined } | undefined,
): Promise<{ readonly spec: ContainerSpec; readonly message: MessageFile | undefined }> {
  const { container, attempt } = spec;
  const message = ahead?.attempt === attempt ? ahead.message : await messages.file(pod, container, attempt);
  if (message === undefined) return { spec, message };
  const mount = { ...message.mount, ...(selinux && { relabel: true as const }) };
  return { spec: { ...spec, mounts: [...spec.mounts, mount] }, message };
}
