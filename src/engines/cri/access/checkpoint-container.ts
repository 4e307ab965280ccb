import { GrpcError } from '../../../base/grpc/grpc-error.ts';
import { RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';

/** See ContainerAccess.checkpoint. A runtime may be asked for longer than for other calls (pkg/kubelet/cri/remote CheckpointContainer). */
export async function checkpointContainer(
  client: Pick<CriClient, 'call' | 'requestTimeoutMs'>,
  containerId: string,
  location: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const timeout = BigInt(Math.trunc(timeoutMs / 1000));
  try {
    await client.call(
      RuntimeService.method.checkpointContainer,
      { containerId, location, timeout },
      signal,
      Math.max(client.requestTimeoutMs, timeoutMs),
    );
  } catch (error) {
    if (!(error instanceof GrpcError) || !error.connected) throw error;
    // In a kubelet's words, as clients know them.
    throw new Error(`rpc error: code = ${error.code} desc = ${error.details}`, { cause: error });
  }
}
