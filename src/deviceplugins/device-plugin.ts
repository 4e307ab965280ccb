import type { MessageShape } from '@bufbuild/protobuf';
import type { Clock } from '../base/clock.ts';
import { exponential } from '../base/exponential.ts';
import { GrpcClient } from '../base/grpc/grpc-client.ts';
import { GrpcError } from '../base/grpc/grpc-error.ts';
import {
  type AllocateResponse,
  DevicePlugin as Service,
  type DevicePluginOptions,
  type ListAndWatchResponseSchema,
} from './api/deviceplugin_pb.js';

export interface DevicePluginDeps {
  readonly resource: string;
  readonly socketPath: string;
  readonly clock: Clock;
  readonly random: () => number;
}

/** As grpc-go takes them (defaultClientMaxReceiveMessageSize): a list of some 190,000 devices. */
export const MAX_MESSAGE_BYTES = 4 << 20;
/** Of devices of one container. Small parts of a message are a hundred times as large once they are read. */
const MAX_ALLOCATION_BYTES = 512 << 10;
/** How long a plugin may take to be there and to say its options, once it has registered (dial in pkg/kubelet/cm/devicemanager/plugin). */
const CONNECT_MS = 10_000;
/** Within the 10 s of an admission, so that the pod is refused with the plugin's name. A kubelet waits for ever. */
const ALLOCATE_MS = 8_000;
/** KubeletPreStartContainerRPCTimeoutInSecs. */
const PRE_START_MS = 30_000;
/** A stream that ends with its plugin needs a deadline all the same. */
const TEN_YEARS_MS = 10 * 365 * 86_400_000;

const retryMs = exponential(50, 1000);

/** Calls a device plugin on its socket (v1beta1). Calls reject with what it says, in the words of gRPC. */
export class DevicePlugin {
  readonly resource: string;
  readonly #clock: Clock;
  readonly #client: GrpcClient;

  constructor({ resource, socketPath, clock, random }: DevicePluginDeps) {
    this.resource = resource;
    this.#clock = clock;
    this.#client = new GrpcClient({ target: { socketPath }, clock, random, maxMessageBytes: MAX_MESSAGE_BYTES });
  }

  /** Resolves with its options. One that is only starting is waited for. */
  async connect(signal: AbortSignal): Promise<DevicePluginOptions> {
    const startedAtMs = this.#clock.monotonicMs();
    for (let failures = 1; ; failures++) {
      const leftMs = startedAtMs + CONNECT_MS - this.#clock.monotonicMs();
      try {
        return await this.#client.unary(Service.method.getDevicePluginOptions, {}, { timeoutMs: Math.max(1, leftMs) }, signal);
      } catch (error) {
        signal.throwIfAborted();
        const waitMs = retryMs(failures);
        if (error instanceof GrpcError && !error.connected) {
          if (leftMs <= waitMs) throw new Error(`failed to dial device plugin: ${rpcText(error)}`, { cause: error });
          await this.#clock.sleep(waitMs, signal);
          continue;
        }
        throw new Error(`failed to get device plugin options: ${rpcText(error)}`, { cause: error });
      }
    }
  }

  /** Each list of its devices, until it ends. */
  list(signal: AbortSignal): AsyncIterable<MessageShape<typeof ListAndWatchResponseSchema>> {
    return this.#client.stream(Service.method.listAndWatch, {}, { timeoutMs: TEN_YEARS_MS }, signal);
  }

  async preferred(
    available: readonly string[],
    included: readonly string[],
    size: number,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const request = { availableDeviceIDs: [...available], mustIncludeDeviceIDs: [...included], allocationSize: size };
    try {
      const { containerResponses } = await this.#client.unary(
        Service.method.getPreferredAllocation,
        { containerRequests: [request] },
        { timeoutMs: ALLOCATE_MS },
        signal,
      );
      return containerResponses[0]?.deviceIDs ?? [];
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(`device plugin GetPreferredAllocation rpc failed with err: ${rpcText(error)}`, { cause: error });
    }
  }

  async allocate(ids: readonly string[], signal: AbortSignal): Promise<AllocateResponse> {
    const request = { containerRequests: [{ devicesIds: [...ids] }] };
    try {
      const options = { timeoutMs: ALLOCATE_MS, maxMessageBytes: MAX_ALLOCATION_BYTES };
      return await this.#client.unary(Service.method.allocate, request, options, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(rpcText(error), { cause: error });
    }
  }

  async preStart(ids: readonly string[], signal: AbortSignal): Promise<void> {
    try {
      await this.#client.unary(Service.method.preStartContainer, { devicesIds: [...ids] }, { timeoutMs: PRE_START_MS }, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(`device plugin PreStartContainer rpc failed with err: ${rpcText(error)}`, { cause: error });
    }
  }

  /** Ends all calls. */
  close(): void {
    this.#client.close();
  }
}

/** As Go prints it: without the name of the call. */
export function rpcText(error: unknown): string {
  if (error instanceof GrpcError) return `rpc error: code = ${error.code} desc = ${error.details}`;
  return error instanceof Error ? error.message : String(error);
}
