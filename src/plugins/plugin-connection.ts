import type { Clock } from '../base/clock.ts';
import { GrpcClient } from '../base/grpc/grpc-client.ts';
import { GrpcError } from '../base/grpc/grpc-error.ts';
import { Registration } from './api/registration_pb.js';
import type { PluginInfo } from './plugin-info.ts';

/** What a plugin says of itself is some hundred bytes. */
const MAX_MESSAGE_BYTES = 64 << 10;
/** One that has not answered by then has not registered. */
const GET_INFO_MS = 5_000;
/** pkg/kubelet/pluginmanager/operationexecutor: notifyTimeoutDuration */
const NOTIFY_MS = 5_000;

/** A plugin's registration socket. */
export interface PluginConnection {
  /** Rejects in the kubelet's words. */
  info(signal: AbortSignal): Promise<PluginInfo>;
  /** Empty: it is registered. Rejects where the plugin did not take it. */
  notify(error: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

export function openPluginConnection(socketPath: string, clock: Clock, random: () => number): PluginConnection {
  const client = new GrpcClient({
    target: { socketPath },
    clock,
    random,
    maxMessageBytes: MAX_MESSAGE_BYTES,
  });
  return {
    info: async (signal) => {
      try {
        return await client.unary(Registration.method.getInfo, {}, { timeoutMs: GET_INFO_MS }, signal);
      } catch (cause) {
        if (!(cause instanceof GrpcError)) throw cause;
        const what = cause.connected ? 'failed to get plugin info using RPC GetInfo' : 'dial failed';
        throw new Error(`RegisterPlugin error -- ${what} at socket ${socketPath}, err: ${cause.message}`, { cause });
      }
    },
    notify: async (error, signal) => {
      const status = { pluginRegistered: error === '', error };
      await client.unary(Registration.method.notifyRegistrationStatus, status, { timeoutMs: NOTIFY_MS }, signal);
    },
    close: () => client.close(),
  };
}
