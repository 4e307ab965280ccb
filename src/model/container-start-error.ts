import { withoutCredentials } from '../base/without-credentials.ts';

/** Why a container waits, in the words of `state.waiting.reason` (pkg/kubelet/images/types.go, pkg/kubelet/container/sync_result.go). */
export type ContainerStartReason =
  | 'ImagePullBackOff'
  | 'ErrImagePull'
  | 'ImageInspectError'
  | 'ErrImageNeverPull'
  | 'RegistryUnavailable'
  | 'SignatureValidationFailed'
  | 'InvalidImageName'
  | 'CrashLoopBackOff'
  | 'CreateContainerConfigError'
  | 'CreateContainerError'
  | 'RunContainerError'
  | 'PostStartHookError';

/** A container that could not be started, with the words its status and events show. */
export class ContainerStartError extends Error {
  readonly reason: ContainerStartReason;
  /** When trying again makes sense, on the clock's monotonic time; undefined where only a change helps or the queue's own back-off will do. */
  readonly retryAtMs: number | undefined;

  constructor(reason: ContainerStartReason, message: string, options: { readonly cause?: unknown; readonly retryAtMs?: number } = {}) {
    super(withoutCredentials(message), { cause: options.cause });
    this.name = 'ContainerStartError';
    this.reason = reason;
    this.retryAtMs = options.retryAtMs;
  }
}
