import {
  create,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import type { Clock } from '../clock.ts';
import { errorText } from '../error-text.ts';
import { type GrpcCallOptions, GrpcChannel, type GrpcChannelOptions } from './grpc-channel.ts';
import { GrpcError } from './grpc-error.ts';
import type { GrpcCode } from './grpc-status.ts';

/** A call has ended. */
export interface GrpcCallEnd {
  /** "/grpc.health.v1.Health/Check" */
  readonly method: string;
  /** What came of it: Canceled where it was given up. */
  readonly code: GrpcCode;
  readonly tookMs: number;
}

export interface GrpcUnaryOptions extends GrpcCallOptions {
  /** Hears how the call ended. */
  readonly onEnd?: (call: GrpcCallEnd) => void;
}

/** The methods that protocol files describe, called over one GrpcChannel. Rejects as that does; Internal also for an answer that is of another type. */
export class GrpcClient {
  readonly #channel: GrpcChannel;
  readonly #clock: GrpcChannelOptions['clock'];

  constructor(options: GrpcChannelOptions) {
    this.#channel = new GrpcChannel(options);
    this.#clock = options.clock;
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    input: MessageInitShape<I>,
    options: GrpcUnaryOptions,
    signal: AbortSignal,
  ): Promise<MessageShape<O>> {
    const { onEnd } = options;
    const call = async (): Promise<MessageShape<O>> =>
      decoded(method, await this.#channel.unary(pathOf(method), encoded(method.input, input), options, signal));
    if (onEnd === undefined) return await call();
    const begunAtMs = this.#clock.monotonicMs();
    const ended = (code: GrpcCode): void => onEnd({ method: pathOf(method), code, tookMs: this.#clock.monotonicMs() - begunAtMs });
    try {
      const answer = await call();
      ended('OK');
      return answer;
    } catch (error) {
      ended(error instanceof GrpcError ? error.code : signal.aborted ? 'Canceled' : 'Unknown');
      throw error;
    }
  }

  /** Breaking off the iteration cancels the call. */
  async *stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    input: MessageInitShape<I>,
    options: GrpcCallOptions,
    signal: AbortSignal,
  ): AsyncGenerator<MessageShape<O>> {
    for await (const message of this.#channel.stream(pathOf(method), encoded(method.input, input), options, signal))
      yield decoded(method, message);
  }

  /** See GrpcChannel. */
  stayConnected(clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<void> {
    return this.#channel.stayConnected(clock, signal);
  }

  /** Ends all calls, and refuses others. */
  close(): void {
    this.#channel.close();
  }
}

const pathOf = ({ parent, name }: { readonly parent: { readonly typeName: string }; readonly name: string }): string =>
  `/${parent.typeName}/${name}`;

function encoded<I extends DescMessage>(type: I, input: MessageInitShape<I>): Uint8Array {
  return toBinary(type, create(type, input));
}

function decoded<O extends DescMessage>(
  { name, output }: { readonly name: string; readonly output: O },
  message: Uint8Array,
): MessageShape<O> {
  try {
    return fromBinary(output, message);
  } catch (cause) {
    const details = `the server answered with what is no ${output.typeName}: ${errorText(cause)}`;
    throw new GrpcError(name, { code: 'Internal', details }, { connected: true, cause });
  }
}
