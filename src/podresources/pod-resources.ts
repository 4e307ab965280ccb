import type { MessageInitShape } from '@bufbuild/protobuf';
import { isSidecar } from '../model/pod-predicates.ts';
import type { Container, Pod } from '../model/pod.ts';
import type { AssignedDevice, AssignedMemory, AssignedResources } from '../ports/assigned-resources.ts';
import type {
  AllocatableResourcesResponseSchema,
  ContainerDevicesSchema,
  ContainerMemorySchema,
  ContainerResourcesSchema,
  DynamicResourceSchema,
  PodResourcesSchema,
} from './api/podresources-v1_pb.js';
import type { PodResourcesSchema as OldPodResourcesSchema } from './api/podresources-v1alpha1_pb.js';

type All = readonly AssignedResources[];

/** What containers of the pod have for themselves; of init containers only sidecars run on (server_v1.go in pkg/kubelet/apis/podresources). */
export function podResources(pod: Pod, all: All): MessageInitShape<typeof PodResourcesSchema> {
  const { name, namespace } = pod.metadata;
  const containers = [...(pod.spec.initContainers ?? []).filter(isSidecar), ...pod.spec.containers];
  return { name, namespace, containers: containers.map((container) => containerResources(pod, container, all)) };
}

/** As v1alpha1 has it: devices of app containers alone, those of a resource together as far as they were given together. */
export function podResourcesAlpha(pod: Pod, all: All): MessageInitShape<typeof OldPodResourcesSchema> {
  const { name, namespace } = pod.metadata;
  const containers = pod.spec.containers.map((container) => {
    const devices = all.flatMap((each) => each.devices?.(pod.metadata.uid, container.name) ?? []);
    return { name: container.name, devices: devices.map(({ resource, id }) => ({ resourceName: resource, deviceIds: [id] })) };
  });
  return { name, namespace, containers };
}

/** All that containers can have for themselves, in use or not. */
export function allocatableResources(all: All): MessageInitShape<typeof AllocatableResourcesResponseSchema> {
  return {
    devices: all.flatMap((each) => each.allocatableDevices?.() ?? []).map(device),
    cpuIds: all.flatMap((each) => each.allocatableCpus?.() ?? []).map(BigInt),
    memory: all.flatMap((each) => each.allocatableMemory?.() ?? []).map(memory),
  };
}

function containerResources(pod: Pod, container: Container, all: All): MessageInitShape<typeof ContainerResourcesSchema> {
  const { uid } = pod.metadata;
  const { name } = container;
  return {
    name,
    devices: all.flatMap((each) => each.devices?.(uid, name) ?? []).map(device),
    cpuIds: all.flatMap((each) => each.cpus?.(uid, name) ?? []).map(BigInt),
    memory: all.flatMap((each) => each.memory?.(uid, name) ?? []).map(memory),
    dynamicResources: all.flatMap((each) => claims(each, pod, container)),
  };
}

const device = ({ resource, id, nodes }: AssignedDevice): MessageInitShape<typeof ContainerDevicesSchema> => ({
  resourceName: resource,
  deviceIds: [id],
  ...(nodes.length > 0 && { topology: topology(nodes) }),
});

const memory = ({ type, bytes, nodes }: AssignedMemory): MessageInitShape<typeof ContainerMemorySchema> => ({
  memoryType: type,
  size: BigInt(bytes),
  topology: topology(nodes),
});

const topology = (nodes: readonly number[]): { readonly nodes: { ID: bigint }[] } => ({
  nodes: nodes.map((node) => ({ ID: BigInt(node) })),
});

function claims(each: AssignedResources, pod: Pod, container: Container): MessageInitShape<typeof DynamicResourceSchema>[] {
  return (each.claims?.(pod, container) ?? []).map(({ name, namespace, devices }) => ({
    claimName: name,
    claimNamespace: namespace,
    claimResources: devices.map(({ driver, pool, device: of, cdiDevices, shareId }) => ({
      driverName: driver,
      poolName: pool,
      deviceName: of,
      cdiDevices: cdiDevices.map((cdi) => ({ name: cdi })),
      ...(shareId !== undefined && { shareId }),
    })),
  }));
}
