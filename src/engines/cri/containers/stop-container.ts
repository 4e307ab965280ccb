import { isGrpcError } from '../../../base/grpc/grpc-error.ts';
import { RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';
import { goingOn } from '../client/going-on.ts';

/** Beyond it a runtime's own arithmetic may overflow. */
const MAX_SECONDS = 2 ** 31 - 1;

/** SIGTERM, or what the container or image names instead, then SIGKILL after the grace period. Resolves when it has ended; succeeds when it is gone or never ran. */
export async function stopContainer(
  client: Pick<CriClient, 'call' | 'requestTimeoutMs'>,
  containerId: string,
  graceMs: number,
  signal: AbortSignal,
): Promise<void> {
  // The runtime counts in seconds.
  const seconds = Math.min(MAX_SECONDS, Math.max(0, Math.ceil(graceMs / 1000)));
  const deadlineMs = seconds * 1000 + client.requestTimeoutMs;
  const request = { containerId, timeout: BigInt(seconds) };
  try {
    await goingOn((own) => client.call(RuntimeService.method.stopContainer, request, own, deadlineMs), signal);
  } catch (error) {
    if (!isGrpcError(error, 'NotFound')) throw error;
  }
}
