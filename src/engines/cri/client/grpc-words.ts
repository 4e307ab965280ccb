import { errorText } from '../../../base/error-text.ts';
import { GrpcError } from '../../../base/grpc/grpc-error.ts';

/** The runtime's own words, without the call: so a kubelet shows them (google.golang.org/grpc/status Convert). */
export function runtimeWords(error: unknown): string {
  return error instanceof GrpcError && error.connected && error.details !== '' ? error.details : errorText(error);
}
