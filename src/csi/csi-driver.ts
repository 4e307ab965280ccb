import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { Clock } from '../base/clock.ts';
import { type GrpcCallEnd, GrpcClient } from '../base/grpc/grpc-client.ts';
import { GrpcError } from '../base/grpc/grpc-error.ts';
import { isLabelValue, isQualifiedName } from '../model/validation/formats.ts';
import { Node, NodeServiceCapability_RPC_Type as Rpc } from './api/csi_pb.js';
import { CsiCallError } from './csi-call-error.ts';

/** What a driver can do on the node, of what is asked for here. */
export type CsiCapability =
  | 'STAGE_UNSTAGE_VOLUME'
  | 'GET_VOLUME_STATS'
  | 'EXPAND_VOLUME'
  | 'SINGLE_NODE_MULTI_WRITER'
  | 'VOLUME_MOUNT_GROUP';

/** What a driver says of the node. */
export interface CsiNodeInfo {
  readonly nodeId: string;
  /** 0: not limited. */
  readonly maxVolumes: number;
  readonly topology: Readonly<Record<string, string>>;
}

export interface CsiCallOptions {
  /** Two minutes unless given. */
  readonly timeoutMs?: number;
  /** It is about a volume of a kind that is the driver's by now. */
  readonly isMigrated?: boolean;
}

/** A driver that is registered, and the calls of its Node service. Each ends within its deadline; all reject with CsiCallError. */
export interface CsiDriver {
  readonly name: string;
  readonly info: CsiNodeInfo;
  can(what: CsiCapability): boolean;
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    input: MessageInitShape<I>,
    signal: AbortSignal,
    how?: CsiCallOptions,
  ): Promise<MessageShape<O>>;
  /** Ends all calls, and refuses others. */
  close(): void;
}

/** pkg/volume/csi csiTimeout. */
const CALL_MS = 120_000;
/** Of the calls that a registration waits for, which itself may take no longer than 10 s. */
const FIRST_CALLS = { timeoutMs: 4_000 };
/** Far more than a Node service has to say. Small parts of a message are a hundred times as large once they are read. */
const MAX_MESSAGE_BYTES = 256 << 10;
const MAX_SEGMENTS = 64;
/** Of the driver's words, which go into events. */
const MAX_DETAILS = 1_024;

export interface OpenCsiDriverDeps {
  readonly clock: Clock;
  readonly random: () => number;
  /** Hears of the end of each call. */
  readonly onCallEnd: (call: GrpcCallEnd, isMigrated: boolean) => void;
}

/** Asks a driver who it is and what it can. Rejects with what is wrong with it, for people. */
export async function openCsiDriver(
  { name, endpoint }: { readonly name: string; readonly endpoint: string },
  { clock, random, onCallEnd }: OpenCsiDriverDeps,
  signal: AbortSignal,
): Promise<CsiDriver> {
  const target = { socketPath: endpoint };
  const grpc = new GrpcClient({ target, clock, random, maxMessageBytes: MAX_MESSAGE_BYTES });
  const call: CsiDriver['call'] = async (method, input, callSignal, { timeoutMs = CALL_MS, isMigrated = false } = {}) => {
    const onEnd = (end: GrpcCallEnd): void => onCallEnd(end, isMigrated);
    try {
      return await grpc.unary(method, input, { timeoutMs, onEnd }, callSignal);
    } catch (error) {
      callSignal.throwIfAborted();
      throw callError(error);
    }
  };
  try {
    const info = nodeInfoOf(await call(Node.method.nodeGetInfo, {}, signal, FIRST_CALLS));
    const { capabilities } = await call(Node.method.nodeGetCapabilities, {}, signal, FIRST_CALLS);
    const can = new Set<string | undefined>(capabilities.map(({ type }) => (type.case === 'rpc' ? Rpc[type.value.type] : undefined)));
    return { name, info, can: (what) => can.has(what), call, close: () => grpc.close() };
  } catch (error) {
    grpc.close();
    throw error;
  }
}

function nodeInfoOf({
  nodeId,
  maxVolumesPerNode,
  accessibleTopology,
}: {
  readonly nodeId: string;
  readonly maxVolumesPerNode: bigint;
  readonly accessibleTopology?: { readonly segments: Readonly<Record<string, string>> } | undefined;
}): CsiNodeInfo {
  if (nodeId === '') throw new Error('NodeGetInfo: the driver names no node_id');
  // Both by the specification: 256 bytes, and no limit where it is 0.
  if (Buffer.byteLength(nodeId) > 256) throw new Error('NodeGetInfo: the node_id is longer than 256 bytes');
  if (maxVolumesPerNode < 0n) throw new Error(`NodeGetInfo: max_volumes_per_node is ${maxVolumesPerNode}, which is less than 0`);
  const topology = accessibleTopology?.segments ?? {};
  if (Object.keys(topology).length > MAX_SEGMENTS) throw new Error(`NodeGetInfo: more than ${MAX_SEGMENTS} topology segments`);
  for (const [key, value] of Object.entries(topology)) {
    const [fault] = [...isQualifiedName(key), ...isLabelValue(value)];
    if (fault !== undefined)
      throw new Error(`NodeGetInfo: topology segment ${quoted(key)}: ${quoted(value)} is no label of a node: ${fault}`);
  }
  const most = 2n ** 31n - 1n;
  return { nodeId, maxVolumes: Number(maxVolumesPerNode > most ? most : maxVolumesPerNode), topology: { ...topology } };
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 300));

/**
 * By which a driver says that it has done nothing. The kubelet counts Internal and Unknown among them; they are also what is made of an answer that
 * broke off, and to undo what has not been done costs one call.
 */
const FINAL: ReadonlySet<string> = new Set([
  'InvalidArgument',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'Unauthenticated',
  'FailedPrecondition',
  'OutOfRange',
  'Unimplemented',
]);

function callError(error: unknown): unknown {
  if (!(error instanceof GrpcError)) return error;
  const { code, details } = error;
  const words = details.length > MAX_DETAILS ? `${details.slice(0, MAX_DETAILS)}…` : details;
  return new CsiCallError(`rpc error: code = ${code} desc = ${words}`, !FINAL.has(code));
}
