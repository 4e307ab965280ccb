import { create, type DescMessage, type DescMethodUnary, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { GrpcError } from '../../src/base/grpc/grpc-error.ts';
import type { GrpcCode } from '../../src/base/grpc/grpc-status.ts';
import type { CriClient } from '../../src/engines/cri/client/cri-client.ts';

/** A runtime that answers as the test says, and keeps what it was asked. */
export class ScriptedCri implements Pick<CriClient, 'call' | 'requestTimeoutMs'> {
  readonly requestTimeoutMs = 120_000;
  readonly asked: { readonly method: string; readonly input: unknown }[] = [];
  readonly #answers = new Map<string, (input: unknown) => unknown>();

  /** To this method from now on. What it throws is the answer, too. */
  answer<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    answer: (input: MessageShape<I>) => MessageInitShape<O>,
  ): this {
    this.#answers.set(method.name, (input) => create(method.output, answer(create(method.input, input as MessageInitShape<I>))));
    return this;
  }

  /** How often a method was called. */
  count(method: string): number {
    return this.asked.filter((each) => each.method === method).length;
  }

  async call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    input: MessageInitShape<I>,
    signal: AbortSignal,
  ): Promise<MessageShape<O>> {
    signal.throwIfAborted();
    this.asked.push({ method: method.name, input });
    const answer = this.#answers.get(method.name);
    if (answer === undefined) throw rpcError(method.name, 'Unimplemented', 'not scripted');
    return answer(input) as MessageShape<O>;
  }
}

export const rpcError = (method: string, code: GrpcCode, details: string): GrpcError => new GrpcError(method, { code, details });
