import { isGrpcError } from '../../../base/grpc/grpc-error.ts';
import { RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';

/** A runtime that has no events says so at once; one that has them may have nothing to tell. */
const SILENT_MS = 500;

/** Whether the runtime tells what happens to its containers. Rejects where it does not answer at all. */
export async function hasEvents(client: Pick<CriClient, 'stream'>, signal: AbortSignal): Promise<boolean> {
  try {
    for await (const _ of client.stream(RuntimeService.method.getContainerEvents, {}, signal, SILENT_MS)) return true;
    return false;
  } catch (error) {
    if (isGrpcError(error, 'DeadlineExceeded')) return true;
    if (isGrpcError(error, 'Unimplemented')) return false;
    throw error;
  }
}
