import type { DescMethodServerStreaming, DescMethodUnary } from '@bufbuild/protobuf';
import type { Clock } from '../base/clock.ts';
import { type GrpcCallEnd, GrpcClient } from '../base/grpc/grpc-client.ts';
import * as v1 from './api/dra_v1_pb.js';
import * as v1beta1 from './api/dra_v1beta1_pb.js';
import * as healthV1 from './api/health_v1_pb.js';
import * as healthV1alpha1 from './api/health_v1alpha1_pb.js';
import type { DeviceReport } from './device-health.ts';
import type { PreparedDevice } from './prepared-device.ts';

/** As grpc-go's, which the kubelet leaves as it is. */
const MAX_MESSAGE_BYTES = 4 << 20;
/** Of what is said of a pod's claims. Small parts of a message are a hundred times as large once they are read. */
const MAX_ANSWER_BYTES = 1 << 20;
/** defaultClientCallTimeout in pkg/kubelet/cm/dra/plugin */
const CALL = { timeoutMs: 45_000, maxMessageBytes: MAX_ANSWER_BYTES };
/** Every call has an end: then reports are asked for again. */
const REPORTS_MS = 24 * 3_600_000;

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
  /** How its devices do, all of them with each report; undefined: it does not say. */
  readonly reports: ((signal: AbortSignal) => AsyncIterable<readonly DeviceReport[]>) | undefined;
  /** Connects without a call, and again when the connection is lost, until the signal aborts. Never rejects. */
  stayConnected(signal: AbortSignal): Promise<void>;
  /** Once the calls that are under way have ended. */
  close(): void;
}

/** The services that are spoken, the newest first, as plugins name them. The messages of both are the same. */
const services = { 'v1.DRAPlugin': v1.DRAPlugin, 'v1beta1.DRAPlugin': v1beta1.DRAPlugin } as const;
export type DraService = keyof typeof services;

const healthServices = {
  'v1.DRAResourceHealth': healthV1.DRAResourceHealth,
  'v1alpha1.DRAResourceHealth': healthV1alpha1.DRAResourceHealth,
} as const;
export type DraHealthService = keyof typeof healthServices;

/** What a plugin speaks. */
export interface DraServices {
  readonly service: DraService;
  readonly health: DraHealthService | undefined;
}

export interface DraDriverDeps {
  readonly clock: Clock;
  readonly random: () => number;
  /** The plugin listens on its socket, or no longer does. */
  readonly onChange: (isConnected: boolean) => void;
  /** Hears of the end of each call, but for reports. */
  readonly onCallEnd: (call: GrpcCallEnd) => void;
}

export function openDraDriver(
  { service, health }: DraServices,
  socketPath: string,
  { clock, random, onChange, onCallEnd }: DraDriverDeps,
): DraDriver {
  const client = new GrpcClient({
    target: { socketPath },
    clock,
    random,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    onChange,
  });
  const { nodePrepareResources, nodeUnprepareResources } = services[service].method;
  let underWay = 0;
  let isClosed = false;
  const call = { ...CALL, onEnd: onCallEnd };
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    underWay++;
    try {
      return await work();
    } finally {
      if (--underWay === 0 && isClosed) client.close();
    }
  };
  return {
    prepare: (claims, signal) =>
      counted(async () => {
        const { claims: answers } = await client.unary(
          nodePrepareResources as DescMethodUnary<
            typeof v1.NodePrepareResourcesRequestSchema,
            typeof v1.NodePrepareResourcesResponseSchema
          >,
          { claims: [...claims] },
          call,
          signal,
        );
        return new Map(Object.entries(answers));
      }),
    unprepare: (claims, signal) =>
      counted(async () => {
        const { claims: answers } = await client.unary(
          nodeUnprepareResources as DescMethodUnary<
            typeof v1.NodeUnprepareResourcesRequestSchema,
            typeof v1.NodeUnprepareResourcesResponseSchema
          >,
          { claims: [...claims] },
          call,
          signal,
        );
        return new Map(Object.entries(answers).map(([uid, { error }]) => [uid, { error, devices: [] }]));
      }),
    stayConnected: (signal) => client.stayConnected(clock, signal),
    reports: health && ((signal) => reportsOf(client, health, signal)),
    close: () => {
      isClosed = true;
      if (underWay === 0) client.close();
    },
  };
}

async function* reportsOf(client: GrpcClient, health: DraHealthService, signal: AbortSignal): AsyncGenerator<readonly DeviceReport[]> {
  const method = healthServices[health].method.nodeWatchResources as DescMethodServerStreaming<
    typeof healthV1.NodeWatchResourcesRequestSchema,
    typeof healthV1.NodeWatchResourcesResponseSchema
  >;
  for await (const { devices } of client.stream(method, {}, { timeoutMs: REPORTS_MS }, signal))
    yield devices.map(({ device, health: status, message, healthCheckTimeoutSeconds }) => ({
      poolName: device?.poolName ?? '',
      deviceName: device?.deviceName ?? '',
      health: healths[status] ?? 'Unknown',
      message,
      holdsForMs: healthCheckTimeoutSeconds > 0n ? Number(healthCheckTimeoutSeconds) * 1000 : undefined,
    }));
}

const healths = ['Unknown', 'Healthy', 'Unhealthy'] as const;
