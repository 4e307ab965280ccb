import { readdirSync } from 'node:fs';
import type { Subscription } from 'rxjs';
import { errorText } from '../base/error-text.ts';
import { GrpcError } from '../base/grpc/grpc-error.ts';
import { GrpcServer } from '../base/grpc/grpc-server.ts';
import type { ResourceList } from '../model/node.ts';
import type { Container, Pod, PodUid } from '../model/pod.ts';
import type { AssignedDevice, AssignedResources } from '../ports/assigned-resources.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { NamedPlugin } from '../ports/plugin-handler.ts';
import type { ResourceHealthByContainer } from '../ports/pod-participant.ts';
import type { TopologyHintProvider } from '../ports/topology-hint-provider.ts';
import { Registration } from './api/deviceplugin_pb.js';
import { type ContainerDevices, DeviceAllocations, NO_NODE } from './device-allocations.ts';
import { type DeviceCheckpoint, deviceCheckpoint, readDeviceCheckpoint } from './device-checkpoint.ts';
import { DeviceInventory } from './device-inventory.ts';
import { DeviceManager } from './device-manager.ts';
import { DevicePlugins, VERSION } from './device-plugins.ts';
import { registrationFault, socketOf } from './registration.ts';

/** Below the root directory, where a kubelet has it, and its plugins look. */
const DEVICE_PLUGINS = 'device-plugins';
const CHECKPOINT = `${DEVICE_PLUGINS}/kubelet_internal_checkpoint`;

export type DevicePluginsNeeds = Pick<
  NodeParts,
  'options' | 'files' | 'clock' | 'random' | 'log' | 'folded' | 'tell' | 'wake' | 'pods' | 'lives'
> & {
  /** What the node has of devices is otherwise than before. */
  readonly onChange: () => void;
  /** Makes the directory that the checkpoint is in. */
  readonly makeDirectory: () => Promise<void>;
};

/** All that is needed of device plugins, once there is one, or was one. */
export interface OpenDevicePlugins extends Required<Pick<AssignedResources, 'devices' | 'allocatableDevices'>> {
  readonly manager: DeviceManager;
  readonly hints: TopologyHintProvider;
  resources(): ResourceList;
  unusable(): ResourceList;
  health(uid: PodUid): ResourceHealthByContainer | undefined;
  /** Releases what pods have that are gone since an agent was here last. */
  releaseGone(): Promise<void>;
  /** The server at which plugins register. */
  server(): GrpcServer;
  register(plugin: NamedPlugin, signal: AbortSignal): Promise<void>;
  deregister(plugin: NamedPlugin): void;
  /** Fulfilled once what was to be written down is. */
  close(): Promise<void>;
}

/** Goes on with what was allocated before, where that can be read. */
export function openDevicePlugins(needs: DevicePluginsNeeds): OpenDevicePlugins {
  const { files, clock, random, folded, log, tell, wake, pods, lives, onChange, makeDirectory } = needs;
  const inventory = new DeviceInventory();
  const allocations = new DeviceAllocations();
  const file = files.open<DeviceCheckpoint>(CHECKPOINT, (json) => {
    try {
      const { allocations: all, resources } = readDeviceCheckpoint(json);
      for (const each of all) allocations.insert(...each);
      inventory.restore(resources, clock.monotonicMs());
      return json as DeviceCheckpoint;
    } catch (error) {
      log.warn('who has which devices cannot be read: begun afresh, and devices that containers have now may be given to others', {
        error,
      });
      return undefined;
    }
  });
  let written: string | undefined = JSON.stringify(file.load());
  /** The last write; a caller whose checkpoint is the one being written waits for it, too. */
  let writing = Promise.resolve();
  const save = (): Promise<void> => {
    const registered = new Map(inventory.names.map((name) => [name, inventory.healthy(name).map(({ id }) => id)]));
    const checkpoint = deviceCheckpoint(allocations, registered);
    const text = JSON.stringify(checkpoint);
    if (text === written) return writing;
    // What the file is about to say.
    written = text;
    writing = write(checkpoint);
    return writing;
  };
  const write = async (checkpoint: DeviceCheckpoint): Promise<void> => {
    try {
      await makeDirectory();
      await file.save(checkpoint);
    } catch (error) {
      written = undefined;
      throw error;
    }
  };
  const saveInTime = (): void => void save().catch((error: unknown) => folded.warn('devices could not be written down', { error }));

  let forgetting: Subscription | undefined;
  const forgetInTime = (): void => {
    forgetting?.unsubscribe();
    const inMs = inventory.nextForgottenInMs(clock.monotonicMs());
    forgetting =
      inMs === undefined
        ? undefined
        : clock.schedule(() => {
            for (const resource of inventory.forget(clock.monotonicMs()))
              log.info('devices of a plugin that is gone are forgotten', { resource });
            changed();
            forgetInTime();
          }, inMs);
  };
  const changed = (): void => {
    onChange();
    saveInTime();
  };
  const wakeUsers = (resource: string, ids: ReadonlySet<string>): void => {
    for (const uid of allocations.usersOf(resource, ids)) wake(uid, 'resources changed');
  };
  const idsOf = (resource: string): ReadonlySet<string> => new Set(inventory.devices(resource).map(({ id }) => id));

  const plugins = new DevicePlugins({
    clock,
    random,
    log: folded,
    onConnected: (resource) => {
      tell.devicePluginRegistered({ resource });
      inventory.connected(resource);
      forgetInTime();
    },
    onList: (resource, devices) => {
      const isFirst = !inventory.isListed(resource);
      const ids = inventory.list(resource, devices);
      if (ids.size === 0 && !isFirst) return;
      const { all, unhealthy } = inventory.counts(resource);
      folded.info('devices listed', { resource, devices: all, unhealthy });
      wakeUsers(resource, isFirst ? new Set([...ids, ...idsOf(resource)]) : ids);
      changed();
    },
    onGone: (resource) => {
      inventory.stopped(resource, clock.monotonicMs());
      wakeUsers(resource, idsOf(resource));
      forgetInTime();
      changed();
    },
  });
  const manager = new DeviceManager({ inventory, allocations, plugins, save, numaNodes: machineNodes(), log: folded, clock, tell });
  const health = deviceHealth(inventory, allocations);
  forgetInTime();

  return {
    manager,
    hints: {
      hints: (pod: Pod, container: Container) => manager.hints(pod, container),
      podHints: (pod: Pod) => manager.podHints(pod),
      // What runs has what it needs, whatever is known of it.
      allocate: async (pod, container, { nodes }, signal) =>
        lives.wasFound(pod.metadata.uid) ? undefined : manager.allocate(pod, container, nodes, signal),
    },
    resources: () => Object.fromEntries(inventory.names.map((name) => [name, String(inventory.counts(name).all)])),
    unusable: () => Object.fromEntries(inventory.names.map((name) => [name, String(inventory.counts(name).unhealthy)])),
    health,
    devices: (uid, container) => [...(allocations.of(uid, container) ?? [])].flatMap(assigned),
    allocatableDevices: () =>
      inventory.names.flatMap((resource) => inventory.healthy(resource).map(({ id, nodes }) => ({ resource, id, nodes }))),
    releaseGone: async () => {
      for (const uid of allocations.uids) if (!pods.get(uid) && !lives.wasFound(uid)) await manager.release(uid);
    },
    server: () =>
      new GrpcServer({ clock }).unary(Registration.method.register, async ({ version, endpoint, resourceName }, { signal }) => {
        const fault = registrationFault({ version, endpoint });
        if (fault !== undefined) {
          folded.warn('device plugin not taken', { resource: resourceName.slice(0, 300), error: fault });
          throw unknown(fault);
        }
        await plugins.register(resourceName, socketOf(needs.options.rootDir, endpoint), signal).catch((error: unknown) => {
          throw error instanceof GrpcError ? error : unknown(errorText(error));
        });
        return {};
      }),
    register: async ({ name, endpoint, versions }, signal) => {
      if (!versions.includes(VERSION))
        throw new Error(`manager version, ${VERSION}, is not among plugin supported versions [${versions.join(' ')}]`);
      await plugins.register(name, endpoint, signal);
    },
    deregister: ({ name }) => plugins.deregister(name),
    close: async () => {
      forgetting?.unsubscribe();
      plugins.close();
      await writing.catch(() => {});
    },
  };
}

const unknown = (details: string): GrpcError => new GrpcError('', { code: 'Unknown', details });

/** Read when somebody asks for the first time. */
function machineNodes(): () => readonly number[] {
  let nodes: readonly number[] | undefined;
  return () =>
    (nodes ??= readdirSync('/sys/devices/system/node')
      .flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? [])
      .map(Number)
      .toSorted((a, b) => a - b));
}

function assigned([resource, { ids, byNode }]: [string, Parameters<DeviceAllocations['insert']>[3]]): readonly AssignedDevice[] {
  const nodes = new Map<string, number[]>([...ids].map((id) => [id, []]));
  for (const [node, there] of byNode) if (node !== NO_NODE) for (const id of there) nodes.get(id)?.push(node);
  return [...nodes].map(([id, of]) => ({ resource, id, nodes: of }));
}

/** As the status shows it; the same object while nothing has changed. */
function deviceHealth(inventory: DeviceInventory, allocations: DeviceAllocations): OpenDevicePlugins['health'] {
  const last = new WeakMap<object, { readonly text: string; readonly health: ResourceHealthByContainer }>();
  const ofContainer = (resources: ContainerDevices): ResourceHealthByContainer[string] =>
    [...resources]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { ids }]) => ({
        name,
        resources: [...ids].toSorted().map((resourceID) => ({ resourceID, health: inventory.healthOf(name, resourceID) })),
      }));
  return (uid) => {
    const containers = allocations.ofPod(uid);
    if (!containers) return undefined;
    const health = Object.fromEntries([...containers].map(([container, resources]) => [container, ofContainer(resources)]));
    const text = JSON.stringify(health);
    const before = last.get(containers);
    if (before?.text === text) return before.health;
    last.set(containers, { text, health });
    return health;
  };
}
