import type { MessageInitShape } from '@bufbuild/protobuf';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { BehaviorSubject, Subject } from 'rxjs';
import { systemClock } from '../../src/base/clock.ts';
import { GrpcClient } from '../../src/base/grpc/grpc-client.ts';
import { GrpcServer } from '../../src/base/grpc/grpc-server.ts';
import {
  type ContainerAllocateResponseSchema,
  DevicePlugin as Service,
  type DevicePluginOptionsSchema,
  type DeviceSchema,
  Registration,
} from '../../src/deviceplugins/api/deviceplugin_pb.js';

const never = new AbortController().signal;

export interface PluginAnswers {
  readonly options?: MessageInitShape<typeof DevicePluginOptionsSchema>;
  /** How a container gets at devices; an environment variable with their ids unless said. May hang or reject. */
  readonly allocate?: (
    ids: readonly string[],
    signal: AbortSignal,
  ) => MessageInitShape<typeof ContainerAllocateResponseSchema> | Promise<MessageInitShape<typeof ContainerAllocateResponseSchema>>;
  readonly prefer?: (available: readonly string[], included: readonly string[], size: number) => readonly string[];
  readonly preStart?: (ids: readonly string[]) => void | Promise<void>;
}

type Device = MessageInitShape<typeof DeviceSchema>;

/** A device plugin of the test's own (v1beta1), on a socket in the directory that a node agent has for them. */
export class FakeDevicePlugin implements AsyncDisposable {
  /** "allocate a b", "preStart a". */
  readonly asked: string[] = [];
  readonly calls = new Subject<string>();
  readonly resource: string;
  readonly #directory: string;
  readonly #endpoint: string;
  readonly #answers: PluginAnswers;
  readonly #devices: BehaviorSubject<readonly Device[]>;
  #server: GrpcServer | undefined;

  constructor(
    rootDir: string,
    {
      resource = 'example.com/gpu',
      devices = [],
      ...answers
    }: PluginAnswers & { readonly resource?: string; readonly devices?: readonly Device[] },
  ) {
    this.resource = resource;
    this.#directory = join(rootDir, 'device-plugins');
    this.#endpoint = `${resource.replaceAll('/', '-')}.sock`;
    this.#answers = answers;
    this.#devices = new BehaviorSubject(devices);
  }

  get socketPath(): string {
    return join(this.#directory, this.#endpoint);
  }

  /** Serves, and registers where it is to. */
  async start({ register = true } = {}): Promise<this> {
    const { options = {}, allocate, prefer, preStart } = this.#answers;
    const call = (text: string): void => {
      this.asked.push(text);
      this.calls.next(text);
    };
    const devices = this.#devices;
    this.#server = new GrpcServer({ clock: systemClock, maxConnections: 1000 })
      .unary(Service.method.getDevicePluginOptions, () => options)
      .unary(Service.method.allocate, async ({ containerRequests }, { signal }) => {
        const ids = containerRequests.flatMap(({ devicesIds }) => devicesIds);
        call(`allocate ${ids.join(' ')}`);
        return { containerResponses: [(await allocate?.(ids, signal)) ?? { envs: { DEVICES: ids.join() } }] };
      })
      .unary(Service.method.getPreferredAllocation, ({ containerRequests: [request] }) => {
        const { availableDeviceIDs = [], mustIncludeDeviceIDs = [], allocationSize = 0 } = request ?? {};
        call(`prefer ${availableDeviceIDs.join(' ')}`);
        return { containerResponses: [{ deviceIDs: [...(prefer?.(availableDeviceIDs, mustIncludeDeviceIDs, allocationSize) ?? [])] }] };
      })
      .unary(Service.method.preStartContainer, async ({ devicesIds }) => {
        call(`preStart ${devicesIds.join(' ')}`);
        await preStart?.(devicesIds);
        return {};
      })
      .stream(Service.method.listAndWatch, async function* (_, { signal }) {
        for (let shown: readonly Device[] | undefined; !signal.aborted;) {
          const now = devices.value;
          if (shown !== now) yield { devices: [...(shown = now)] };
          else
            await new Promise<void>((resolve) => {
              const heard = devices.subscribe((next) => {
                if (next === now) return;
                resolve();
                queueMicrotask(() => heard.unsubscribe());
              });
              signal.addEventListener('abort', () => {
                heard.unsubscribe();
                resolve();
              });
            });
        }
      });
    rmSync(this.socketPath, { force: true });
    await this.#server.listen(this.socketPath, 0o600);
    if (register) await this.register();
    return this;
  }

  /** Rejects as the agent does. */
  async register(over: { readonly version?: string; readonly endpoint?: string; readonly resourceName?: string } = {}): Promise<void> {
    const client = new GrpcClient({
      target: { socketPath: join(this.#directory, 'kubelet.sock') },
      clock: systemClock,
      userAgent: 'fake device plugin',
      maxMessageBytes: 1 << 20,
    });
    try {
      const request = { version: 'v1beta1', endpoint: this.#endpoint, resourceName: this.resource, ...over };
      await client.unary(Registration.method.register, request, { timeoutMs: 20_000 }, never);
    } finally {
      client.close();
    }
  }

  list(devices: readonly Device[]): void {
    this.#devices.next(devices);
  }

  async stop(): Promise<void> {
    await this.#server?.close();
    this.#server = undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Devices of these ids that are well. */
export const healthy = (...ids: readonly string[]): readonly Device[] => ids.map((ID) => ({ ID, health: 'Healthy' }));
