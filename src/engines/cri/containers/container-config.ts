import type { MessageInitShape } from '@bufbuild/protobuf';
import { containerHash } from '../../../model/container-hash.ts';
import type { Pod } from '../../../model/pod.ts';
import type { ContainerSpec, Mount } from '../../../ports/container-runtime.ts';
import type { ImageUser } from '../../common/containers/security-context.ts';
import { containerLabels } from '../../common/identity/container-labels.ts';
import { relativeLogPath } from '../../common/logs/log-paths.ts';
import { type ContainerConfigSchema, MountPropagation, Signal } from '../api/runtime_pb.js';
import { type CriNode, criResources } from './linux-resources.ts';
import { criSecurity } from './security.ts';

export type ContainerConfig = MessageInitShape<typeof ContainerConfigSchema>;

export interface ContainerInput {
  readonly pod: Pod;
  readonly spec: ContainerSpec;
  readonly imageUser: ImageUser;
  readonly node: CriNode;
  readonly seccompProfileRoot: string;
  readonly seccompDefault: boolean;
}

const propagations = {
  private: MountPropagation.PROPAGATION_PRIVATE,
  hostToContainer: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  bidirectional: MountPropagation.PROPAGATION_BIDIRECTIONAL,
} as const;

/** A container as a kubelet asks for it (generateContainerConfig in pkg/kubelet/kuberuntime). Throws for a seccomp profile that cannot be. */
export function containerConfig(input: ContainerInput): ContainerConfig {
  const { pod, spec, node } = input;
  const { container, attempt } = spec;
  const { labels, annotations } = containerLabels(pod, container, { attempt, hash: containerHash(container) }, spec.annotations);
  return {
    metadata: { name: container.name, attempt },
    image: { image: spec.imageRef, userSpecifiedImage: container.image ?? '' },
    command: [...(spec.command ?? [])],
    args: [...(spec.args ?? [])],
    workingDir: container.workingDir ?? '',
    envs: spec.env.map(({ name, value }) => ({ key: name, value: Buffer.from(value) })),
    mounts: [
      ...spec.mounts.map(mount),
      ...(spec.imageMounts ?? []).map(({ imageRef, containerPath, subPath }) => ({
        containerPath,
        readonly: true,
        image: { image: imageRef },
        imageSubPath: subPath ?? '',
      })),
    ],
    devices: (spec.devices ?? []).map(({ hostPath, containerPath, permissions }) => ({ hostPath, containerPath, permissions })),
    CDIDevices: (spec.cdiDevices ?? []).map((name) => ({ name })),
    labels: { ...labels },
    annotations: { ...annotations },
    logPath: relativeLogPath(container.name, attempt),
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    stopSignal: signalOf(container.lifecycle?.stopSignal),
    linux: {
      resources: {
        ...criResources(pod, container, node),
        cpusetCpus: spec.cpuset ?? '',
        cpusetMems: spec.cpusetMems ?? '',
      },
      securityContext: criSecurity(pod, spec, input),
    },
  };
}

function mount({ hostPath, containerPath, readOnly, recursiveReadOnly, relabel, propagation = 'private' }: Mount): object {
  return {
    hostPath,
    containerPath,
    readonly: readOnly,
    selinuxRelabel: relabel === true,
    propagation: propagations[propagation],
    recursiveReadOnly: recursiveReadOnly === true,
  };
}

/** What CRI does not know is left to the image. */
function signalOf(name: string | null | undefined): Signal {
  const known: Readonly<Record<string, unknown>> = Signal;
  const found = name ? known[name] : undefined;
  return typeof found === 'number' ? found : Signal.RUNTIME_DEFAULT;
}
