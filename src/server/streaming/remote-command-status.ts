/** metav1.Status as the error stream carries it, in Go's order of fields. */
export interface RemoteCommandStatus {
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: { readonly causes: readonly { readonly reason?: string; readonly message: string }[] };
  readonly code?: number;
}

export const successStatus: RemoteCommandStatus = { metadata: {}, status: 'Success' };

/** kubectl reads the cause (k8s.io/apimachinery/pkg/util/remotecommand); the text is dockershim's. */
export function exitStatus(exitCode: number): RemoteCommandStatus {
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: Error executing in Docker Container: ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

/** As NewInternalError of k8s.io/apimachinery/pkg/api/errors. */
export function internalErrorStatus(message: string): RemoteCommandStatus {
  return {
    metadata: {},
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  };
}

/** What the error stream says: up to v3 the message of a failure, from v4 on the whole status. */
export function statusText(status: RemoteCommandStatus, json: boolean): string {
  if (json) return JSON.stringify(status);
  return status.status === 'Success' ? '' : (status.message ?? '');
}
