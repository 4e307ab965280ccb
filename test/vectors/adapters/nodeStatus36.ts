import type { Node, NodeStatus, ResourceList } from '../../../src/model/node.ts';
import { parseIp } from '../../../src/node/ip-address.ts';
import { machineInfo } from '../../../src/node/machine-info.ts';
import { nodeAddresses, withProvidedNodeIp } from '../../../src/node/node-addresses.ts';
import { type ConditionChange, setPressureCondition, setReadyCondition } from '../../../src/node/node-conditions.ts';
import { imageStatuses } from '../../../src/node/node-images.ts';
import { runtimeHandlerStatuses } from '../../../src/node/runtime-handlers.ts';
import type { EngineHandler } from '../../../src/ports/engine-features.ts';

type Setter =
  | 'ready'
  | 'memoryPressure'
  | 'diskPressure'
  | 'pidPressure'
  | 'address'
  | 'images'
  | 'machineInfo'
  | 'features'
  | 'runtimeHandlers'
  | 'volumesInUse';

interface Input {
  readonly setter: Setter;
  readonly node: Node;
  readonly now?: string;
  readonly pressure?: boolean;
  readonly runtimeError?: string;
  readonly networkError?: string;
  readonly storageError?: string;
  readonly shutdownError?: string;
  readonly softRequirements?: string;
  readonly localStorage?: boolean;
  readonly maxImages?: number;
  readonly images?: readonly { readonly repoDigests?: readonly string[]; readonly repoTags?: readonly string[]; readonly size: number }[];
  readonly error?: string;
  readonly nodeIPs?: readonly string[];
  readonly invalidIPs?: readonly string[];
  readonly hostname?: string;
  readonly defaultIP?: string;
  readonly external?: boolean;
  readonly info?: {
    readonly numCores: number;
    readonly memoryCapacity: number;
    readonly swapCapacity?: number;
    readonly machineID?: string;
    readonly systemUUID?: string;
    readonly bootID?: string;
    readonly hugePages?: readonly { readonly sizeKb: number; readonly num: number }[];
  };
  readonly maxPods?: number;
  readonly podsPerCore?: number;
  readonly ephemeral?: string;
  readonly reservation?: ResourceList;
  readonly deviceCapacity?: ResourceList;
  readonly deviceAllocatable?: ResourceList;
  readonly removedDevices?: readonly string[];
  readonly features?: { readonly supplementalGroupsPolicy: boolean };
  readonly handlers?: readonly EngineHandler[];
  readonly synced?: boolean;
  readonly volumes?: readonly string[];
}

/** Why no address was found: the kubelet has it from the package that looks for routes. */
const ourWords = 'its name resolves to no address of this host and no default route leads to one; give --node-ip';
const theirWords = 'no default routes found';

const noNodeInfo = {
  architecture: '',
  bootID: '',
  containerRuntimeVersion: '',
  kernelVersion: '',
  kubeProxyVersion: '',
  kubeletVersion: '',
  machineID: '',
  operatingSystem: '',
  osImage: '',
  systemUUID: '',
};
const noStatus = { daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, nodeInfo: noNodeInfo };

/** As Go writes a Node: some fields are always there, empty ones of others never. */
function asGo({ metadata, spec, status = {} }: Node): object {
  const { nodeInfo, ...others } = status;
  const isEmpty = (value: unknown): boolean => typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  const whole = { ...noStatus, ...others, nodeInfo: { ...noNodeInfo, ...nodeInfo } };
  const withoutEmpty = (object: object): object => Object.fromEntries(Object.entries(object).filter(([, value]) => !isEmpty(value)));
  return { metadata: withoutEmpty(metadata ?? {}), spec: spec ?? {}, status: withoutEmpty(whole) };
}

export function run(input: Input): unknown {
  const { node } = input;
  const status = node.status ?? {};
  const nowMs = Date.parse(input.now ?? '');
  const withStatus = (changed: NodeStatus, more: object = {}): object => ({
    node: asGo({ ...node, status: { ...status, ...changed } }),
    ...more,
  });
  const withConditions = ({ conditions, reason }: ConditionChange): object =>
    withStatus({ conditions }, reason ? { events: [`Normal ${reason}`] } : {});

  switch (input.setter) {
    case 'memoryPressure':
    case 'diskPressure':
    case 'pidPressure': {
      const kinds = { memoryPressure: 'memory', diskPressure: 'disk', pidPressure: 'pid' } as const;
      return withConditions(setPressureCondition(status.conditions ?? [], kinds[input.setter], input.pressure ?? false, nowMs));
    }
    case 'ready': {
      const { runtimeError, networkError, storageError, shutdownError, softRequirements, localStorage = false } = input;
      const errors = [runtimeError, networkError, storageError, shutdownError].filter((text) => text !== undefined);
      return withConditions(setReadyCondition(status, { errors, localStorage, ...(softRequirements && { softRequirements }) }, nowMs));
    }
    case 'images': {
      if (input.error) return withStatus({ images: [] }, { error: `error getting image list: ${input.error}` });
      const images = (input.images ?? []).map(({ repoTags = [], repoDigests = [], size }) => ({ repoTags, repoDigests, sizeBytes: size }));
      return withStatus({ images: imageStatuses(images, input.maxImages ?? -1) });
    }
    case 'address': {
      const found = nodeAddresses(status.addresses ?? [], {
        nodeName: node.metadata?.name ?? '',
        nodeIps: (input.nodeIPs ?? []).map(parseIp).filter((ip) => ip !== undefined),
        hostname: input.hostname ?? '',
        externalCloudProvider: input.external ?? false,
        byName: [],
        byDefaultRoute: input.defaultIP ? [input.defaultIP] : [],
        fault: ({ text }) =>
          input.invalidIPs?.includes(text) ? `node IP: "${text}" not found in the host's network interfaces` : undefined,
      });
      const annotations = withProvidedNodeIp(node.metadata?.annotations, found);
      const changed = { ...node, metadata: { ...node.metadata, ...(annotations && { annotations }) } };
      return {
        node: asGo({ ...changed, status: { ...status, ...(found.addresses && { addresses: found.addresses }) } }),
        error: found.error?.replace(ourWords, theirWords),
      };
    }
    case 'machineInfo': {
      const { info } = input;
      const { capacity, allocatable, ids, events } = machineInfo(status, {
        nodeName: node.metadata?.name ?? 'n',
        machine: info && {
          cores: info.numCores,
          memoryBytes: info.memoryCapacity,
          swapBytes: info.swapCapacity ?? 0,
          machineId: info.machineID ?? '',
          systemUuid: info.systemUUID ?? '',
          bootId: info.bootID ?? '',
          hugePages: (info.hugePages ?? []).map(({ sizeKb, num }) => ({ pageSizeKiB: sizeKb, pages: num })),
        },
        maxPods: input.maxPods ?? 0,
        podsPerCore: input.podsPerCore ?? 0,
        capacity: input.ephemeral === undefined ? {} : { 'ephemeral-storage': input.ephemeral },
        reservation: input.reservation ?? {},
        devices: { capacity: input.deviceCapacity ?? {}, allocatable: input.deviceAllocatable ?? {}, removed: input.removedDevices ?? [] },
      });
      const nodeInfo = { ...noNodeInfo, ...status.nodeInfo, ...ids };
      return withStatus(
        { capacity, allocatable, nodeInfo },
        events.length > 0 ? { events: events.map(({ type, reason }) => `${type} ${reason}`) } : {},
      );
    }
    case 'features':
      return withStatus({ features: input.features ?? {} });
    case 'runtimeHandlers':
      return withStatus({ runtimeHandlers: runtimeHandlerStatuses(input.handlers ?? []) });
    case 'volumesInUse':
      return withStatus(input.synced ? { volumesInUse: input.volumes ?? [] } : {});
    default:
      return input.setter satisfies never;
  }
}
