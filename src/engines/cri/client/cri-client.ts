import type { DescMessage, DescMethodServerStreaming, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { Clock } from '../../../base/clock.ts';
import { GrpcClient } from '../../../base/grpc/grpc-client.ts';
import { GrpcError } from '../../../base/grpc/grpc-error.ts';
import { parseEngineEndpoint } from '../../../model/engine-endpoint.ts';
import type { Happenings } from '../../../ports/happenings.ts';
import { ImageService } from '../api/runtime_pb.js';

/** As the kubelet's (pkg/kubelet/cri/remote/remote_runtime.go: maxMsgSize). */
const MAX_MESSAGE_BYTES = 16 << 20;

/**
 * The only door to a container runtime that speaks CRI. Methods are those of RuntimeService and ImageService: `call(RuntimeService.method.version,
 * {}, signal)`. Every call ends: by its answer, its deadline, its signal or a broken connection. It rejects with GrpcError or the signal's reason.
 */
export interface CriClient {
  /** "unix:///run/containerd/containerd.sock" */
  readonly endpoint: string;
  /** The deadline for calls that have no reason for another one, in milliseconds. */
  readonly requestTimeoutMs: number;
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    input: MessageInitShape<I>,
    signal: AbortSignal,
    deadlineMs?: number,
  ): Promise<MessageShape<O>>;
  /** Breaking off the iteration cancels the call. */
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    input: MessageInitShape<I>,
    signal: AbortSignal,
    deadlineMs: number,
  ): AsyncIterable<MessageShape<O>>;
  /** Ends all calls, and refuses others. */
  close(): void;
}

export interface CriClientOptions {
  /** unix://PATH */
  readonly endpoint: string;
  /** Who has the images, where that is another; empty: the same. */
  readonly imageEndpoint?: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly requestTimeoutMs: number;
  readonly tell: Pick<Happenings, 'engineCalled'>;
}

/** Connects when it is first asked something. Throws where an endpoint is none. */
export function openCriClient({ endpoint, imageEndpoint = '', clock, random, requestTimeoutMs, tell }: CriClientOptions): CriClient {
  const open = (at: string): GrpcClient => new GrpcClient({ target: target(at), clock, random, maxMessageBytes: MAX_MESSAGE_BYTES });
  const runtime = { at: endpoint, grpc: open(endpoint) };
  const images = imageEndpoint === '' || imageEndpoint === endpoint ? runtime : { at: imageEndpoint, grpc: open(imageEndpoint) };
  const serverOf = (method: { readonly parent: { readonly typeName: string } }): typeof runtime =>
    method.parent.typeName === ImageService.typeName ? images : runtime;
  return {
    endpoint,
    requestTimeoutMs,
    call: async (method, input, signal, deadlineMs = requestTimeoutMs) => {
      const startedAtMs = clock.monotonicMs();
      const { at, grpc } = serverOf(method);
      let failed: 'error' | 'timeout' | undefined;
      try {
        return await grpc.unary(method, input, { timeoutMs: deadlineMs }, signal);
      } catch (error) {
        if (!signal.aborted) failed = error instanceof GrpcError && error.code === 'DeadlineExceeded' ? 'timeout' : 'error';
        throw withEndpoint(error, at);
      } finally {
        tell.engineCalled({ what: method.name, tookMs: clock.monotonicMs() - startedAtMs, failed });
      }
    },
    stream: async function* (method, input, signal, deadlineMs) {
      const { at, grpc } = serverOf(method);
      try {
        yield* grpc.stream(method, input, { timeoutMs: deadlineMs }, signal);
      } catch (error) {
        throw withEndpoint(error, at);
      }
    },
    close: () => {
      runtime.grpc.close();
      images.grpc.close();
    },
  };
}

/** What never answered is named, for people to look after. */
function withEndpoint(error: unknown, endpoint: string): unknown {
  if (!(error instanceof GrpcError) || error.connected) return error;
  const { code, cause } = error;
  const details = `cannot reach the container runtime at ${endpoint}: ${error.details}`;
  return new GrpcError(error.method, { code, details }, { connected: false, cause });
}

function target(endpoint: string): { readonly socketPath: string } {
  const parsed = parseEngineEndpoint(endpoint);
  if (parsed === undefined || !('socketPath' in parsed))
    throw new Error(`container runtime endpoint ${JSON.stringify(endpoint)}: expected unix:///PATH`);
  return parsed;
}
