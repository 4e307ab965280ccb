import type { DescMessage, DescMethod, MessageInitShape } from '@bufbuild/protobuf';
import { create, type MessageShape } from '@bufbuild/protobuf';
import {
  Node,
  NodeGetInfoResponseSchema,
  type NodePublishVolumeRequest,
  NodeServiceCapability_RPC_Type,
  type NodeStageVolumeRequest,
} from '../../src/csi/api/csi_pb.js';
import type { CsiCapability } from '../../src/csi/csi-driver.ts';
import type { GrpcCode } from '../../src/base/grpc/grpc-status.ts';
import type { NamedPlugin } from '../../src/ports/plugin-handler.ts';
import { type CriCall, CriServer } from './cri-server.ts';

/** What a driver keeps volumes in. Each call may be made again. */
export interface CsiBacking {
  stage(request: NodeStageVolumeRequest): Promise<void>;
  unstage(volumeId: string, path: string): Promise<void>;
  publish(request: NodePublishVolumeRequest): Promise<void>;
  unpublish(volumeId: string, path: string): Promise<void>;
  expand?(volumeId: string, bytes: bigint): Promise<void>;
}

/** What goes wrong with one call. Done means that the driver has done it all the same. */
export type CsiFault =
  | { readonly is: 'error'; readonly code: GrpcCode; readonly words: string; readonly done?: boolean }
  | { readonly is: 'hang'; readonly done?: boolean }
  | { readonly is: 'die'; readonly done?: boolean }
  | { readonly is: 'twice' }
  | { readonly is: 'nonsense' };

/** Does nothing, and says that it did. */
export const emptyBacking: CsiBacking = {
  stage: async () => {},
  unstage: async () => {},
  publish: async () => {},
  unpublish: async () => {},
};

/** A CSI driver of the test's own: the published protocol on a socket, calls kept, faults on order. */
export class CsiDriverUnderTest implements AsyncDisposable {
  readonly name: string;
  readonly server: CriServer;
  readonly info = create(NodeGetInfoResponseSchema, { nodeId: 'id-of-n1' });
  capabilities: readonly CsiCapability[];
  readonly #faults = new Map<string, CsiFault[]>();

  static async listen(
    name = 'csi.example.com',
    { backing = emptyBacking, capabilities = [] }: { readonly backing?: CsiBacking; readonly capabilities?: readonly CsiCapability[] } = {},
  ): Promise<CsiDriverUnderTest> {
    return new CsiDriverUnderTest(name, await CriServer.listen(), backing, capabilities);
  }

  private constructor(name: string, server: CriServer, backing: CsiBacking, capabilities: readonly CsiCapability[]) {
    this.name = name;
    this.server = server;
    this.capabilities = capabilities;
    const { method } = Node;
    this.#serve(method.nodeGetInfo, async () => this.info);
    this.#serve(method.nodeGetCapabilities, async () => ({
      capabilities: this.capabilities.map((what) => ({
        type: { case: 'rpc' as const, value: { type: NodeServiceCapability_RPC_Type[what] } },
      })),
    }));
    this.#serve(method.nodeStageVolume, async (request) => {
      await backing.stage(request);
      return {};
    });
    this.#serve(method.nodeUnstageVolume, async ({ volumeId, stagingTargetPath }) => {
      await backing.unstage(volumeId, stagingTargetPath);
      return {};
    });
    this.#serve(method.nodePublishVolume, async (request) => {
      await backing.publish(request);
      return {};
    });
    this.#serve(method.nodeUnpublishVolume, async ({ volumeId, targetPath }) => {
      await backing.unpublish(volumeId, targetPath);
      return {};
    });
    this.#serve(method.nodeExpandVolume, async ({ volumeId, capacityRange }) => {
      const capacityBytes = capacityRange?.requiredBytes ?? 0n;
      await backing.expand?.(volumeId, capacityBytes);
      return { capacityBytes };
    });
    this.#serve(method.nodeGetVolumeStats, async () => ({
      usage: [
        { unit: 1, total: 1000n, used: 400n, available: 600n },
        { unit: 2, total: 100n, used: 40n, available: 60n },
      ],
    }));
  }

  get plugin(): NamedPlugin {
    return { name: this.name, endpoint: this.server.endpoint.slice('unix://'.length), versions: ['1.0.0'] };
  }

  /** The names of the methods that were called, but for those of a registration. */
  get called(): readonly string[] {
    return this.server.asked
      .map(({ method }) => method)
      .filter((method) => !method.startsWith('NodeGetInfo') && !method.startsWith('NodeGetCap'));
  }

  /** The requests of one method, with no more than what was set in them. */
  requests(method: string): readonly Readonly<Record<string, unknown>>[] {
    return this.server.asked.filter((each) => each.method === method).map(({ input }) => plain(input));
  }

  /** The next call of the method has this fault, the one after it the next. */
  fault(method: string, ...faults: readonly CsiFault[]): void {
    this.#faults.set(method, [...(this.#faults.get(method) ?? []), ...faults]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }

  #serve<I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { readonly input: I; readonly output: O },
    work: (input: MessageShape<I>) => Promise<MessageInitShape<O>>,
  ): void {
    this.server.on(method, (call: CriCall<I, O>) => void this.#answer(method.name, call, work));
  }

  async #answer<I extends DescMessage, O extends DescMessage>(
    name: string,
    call: CriCall<I, O>,
    work: (input: MessageShape<I>) => Promise<MessageInitShape<O>>,
  ): Promise<void> {
    const fault = this.#faults.get(name)?.shift();
    try {
      const done = fault === undefined || fault.is === 'twice' || ('done' in fault && fault.done);
      const answer = done ? await work(call.input) : undefined;
      if (fault?.is === 'error') call.end(fault.code, fault.words);
      else if (fault?.is === 'die') call.hangUp();
      else if (fault?.is === 'nonsense') {
        call.sendBytes(Buffer.from('\0\0\0\0\x04\xff\xff\xff\xff', 'latin1'));
        call.end();
      } else if (answer !== undefined && fault?.is !== 'hang') {
        call.send(answer);
        if (fault?.is === 'twice') call.send(answer);
        call.end();
      }
    } catch (error) {
      call.end('Internal', error instanceof Error ? error.message : String(error));
    }
  }
}

/** A message as plain data, without what is not set. */
function plain(message: unknown): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(
    JSON.stringify(message, (key, each: unknown) => {
      if (key === '$typeName' || key === '$unknown' || each === '' || each === false) return undefined;
      if (typeof each === 'bigint') return Number(each);
      const isEmpty = typeof each === 'object' && each !== null && Object.keys(each).every((inner) => inner === '$typeName');
      return isEmpty && key !== 'value' ? undefined : each;
    }),
  );
  return value as Readonly<Record<string, unknown>>;
}
