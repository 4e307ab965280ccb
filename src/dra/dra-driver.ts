import type { DescMethodUnary } from '@bufbuild/protobuf';
import type { Clock } from '../base/clock.ts';
import { GrpcClient } from '../base/grpc/grpc-client.ts';
import { version } from '../base/version.ts';
import * as v1 from './api/dra_v1_pb.js';
import * as v1beta1 from './api/dra_v1beta1_pb.js';
import type { PreparedDevice } from './prepared-device.ts';

/** As grpc-go's, which the kubelet leaves as it is. */
const MAX_MESSAGE_BYTES = 4 << 20;
/** defaultClientCallTimeout in pkg/kubelet/cm/dra/plugin */
const CALL_MS = 45_000;

export interface ClaimToPrepare {
  readonly namespace: string;
  readonly uid: string;
  readonly name: string;
}

/** What a driver answers of one claim. */
export interface DriverAnswer {
  /** Empty: it has done what it was asked to. */
  readonly error: string;
  readonly devices: readonly PreparedDevice[];
}

/** A driver's plugin on its socket. Each call ends within 45 s; answers are by the claims' uids, as the driver gave them. */
export interface DraDriver {
  prepare(claims: readonly ClaimToPrepare[], signal: AbortSignal): Promise<ReadonlyMap<string, DriverAnswer>>;
  unprepare(claims: readonly ClaimToPrepare[], signal: AbortSignal): Promise<ReadonlyMap<string, DriverAnswer>>;
  /** Once the calls that are under way have ended. */
  close(): void;
}

/** The services that are spoken, the newest first, as plugins name them. The messages of both are the same. */
const services = { 'v1.DRAPlugin': v1.DRAPlugin, 'v1beta1.DRAPlugin': v1beta1.DRAPlugin } as const;
export type DraService = keyof typeof services;

export function openDraDriver(service: DraService, socketPath: string, clock: Clock, random: () => number): DraDriver {
  const client = new GrpcClient({
    target: { socketPath },
    clock,
    random,
    userAgent: `rxlet/${version()}`,
    maxMessageBytes: MAX_MESSAGE_BYTES,
  });
  const { nodePrepareResources, nodeUnprepareResources } = services[service].method;
  let underWay = 0;
  let isClosed = false;
  const call = async <T>(work: () => Promise<T>): Promise<T> => {
    underWay++;
    try {
      return await work();
    } finally {
      if (--underWay === 0 && isClosed) client.close();
    }
  };
  return {
    prepare: (claims, signal) =>
      call(async () => {
        const { claims: answers } = await client.unary(
          nodePrepareResources as DescMethodUnary<
            typeof v1.NodePrepareResourcesRequestSchema,
            typeof v1.NodePrepareResourcesResponseSchema
          >,
          { claims: [...claims] },
          { timeoutMs: CALL_MS },
          signal,
        );
        return new Map(Object.entries(answers));
      }),
    unprepare: (claims, signal) =>
      call(async () => {
        const { claims: answers } = await client.unary(
          nodeUnprepareResources as DescMethodUnary<
            typeof v1.NodeUnprepareResourcesRequestSchema,
            typeof v1.NodeUnprepareResourcesResponseSchema
          >,
          { claims: [...claims] },
          { timeoutMs: CALL_MS },
          signal,
        );
        return new Map(Object.entries(answers).map(([uid, { error }]) => [uid, { error, devices: [] }]));
      }),
    close: () => {
      isClosed = true;
      if (underWay === 0) client.close();
    },
  };
}
