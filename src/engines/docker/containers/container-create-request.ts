import { containerHash } from '../../../model/container-hash.ts';
import type { Pod } from '../../../model/pod.ts';
import type { ContainerSpec, Device, ImageMount, Mount } from '../../../ports/container-runtime.ts';
import { containerLabels } from '../../common/identity/container-labels.ts';
import { dockerResources, type NodeResources } from './container-resources.ts';
import { type CreateRequest, DEFAULT_SHM_BYTES, dockerGroups } from './create-body.ts';
import { containerDockerLabels } from '../identity/docker-labels.ts';
import { containerDockerName } from '../identity/docker-names.ts';
import { runtimeOfHandler } from '../identity/runtime-of-handler.ts';
import type { LogConfig } from '../logs/log-rotation.ts';
import { containerLogPath } from '../../common/logs/log-paths.ts';
import { apparmorOpts, dockerUser, selinuxOpts } from './security-opts.ts';
import { effectiveSecurityContext, type ImageUser, maskedPaths, readonlyPaths } from '../../common/containers/security-context.ts';

export interface ContainerInput {
  readonly pod: Pod;
  readonly spec: ContainerSpec;
  readonly sandboxId: string;
  readonly imageUser: ImageUser;
  /** See seccompOpts: reading a profile is not this function's job. */
  readonly seccomp: readonly string[];
  readonly node: NodeResources;
  readonly podLogsDir: string;
  readonly logConfig: LogConfig | undefined;
  /** The spec's, as docker takes it: see dockerCgroupParent. */
  readonly cgroupParent: string;
  readonly extraSupplementalGroups: readonly number[];
  /** See DockerFeatures. */
  readonly asksForOneMount: boolean;
  /** See Dialect.joinsHostnameWhenAsked. */
  readonly asksForHostname?: boolean;
  /** The group of a user for whom the spec names none, where he is to have no others; undefined: left to the image. */
  readonly primaryGroup?: number | undefined;
}

/** A container of any kind as dockershim made it (pkg/kubelet/kuberuntime generateContainerConfig, pkg/kubelet/dockershim CreateContainer). */
export function containerCreateRequest(input: ContainerInput): CreateRequest {
  const { pod, spec, sandboxId, seccomp } = input;
  const { container, attempt } = spec;
  const security = effectiveSecurityContext(pod, container);
  const { fsGroup, supplementalGroups } = pod.spec.securityContext ?? {};
  const sandbox = `container:${sandboxId}`;
  // Docker's own way to write a mount cannot say what becomes of those below it.
  // One to be labelled can only be written that way: it is recursive where the engine can.
  const hasOptions = ({ readOnly, recursiveReadOnly, relabel }: Mount): boolean =>
    relabel !== true && (recursiveReadOnly === true || (readOnly && input.asksForOneMount));
  const unmasked = security.privileged === true || security.procMount === 'Unmasked';
  return {
    name: containerDockerName(pod, container.name, attempt),
    body: {
      User: dockerUser(security, input.imageUser, input.primaryGroup),
      Tty: container.tty === true,
      OpenStdin: container.stdin === true,
      StdinOnce: container.stdinOnce === true,
      Env: spec.env.map(({ name, value }) => `${name}=${value}`),
      Entrypoint: spec.command?.length ? spec.command : undefined,
      Cmd: spec.args?.length ? spec.args : undefined,
      // Kubernetes has probes of its own.
      Healthcheck: { Test: ['NONE'] },
      Image: spec.imageRef,
      WorkingDir: container.workingDir || undefined,
      StopSignal: container.lifecycle?.stopSignal || undefined,
      Labels: containerDockerLabels(containerLabels(pod, container, { attempt, hash: containerHash(container) }, spec.annotations), {
        sandboxId,
        logPath: containerLogPath(input.podLogsDir, pod, container.name, attempt),
      }),
      HostConfig: {
        Binds: spec.mounts.filter((mount) => !hasOptions(mount)).map(bind),
        Mounts: optional([...spec.mounts.filter(hasOptions).map(bindMount), ...(spec.imageMounts ?? []).map(imageMount)]),
        Devices: spec.devices?.map(device) ?? [],
        DeviceRequests: spec.cdiDevices?.length ? [{ Driver: 'cdi', DeviceIDs: spec.cdiDevices }] : undefined,
        NetworkMode: sandbox,
        IpcMode: sandbox,
        PidMode: pidMode(pod, sandbox, spec.target),
        UTSMode: pod.spec.hostNetwork ? 'host' : input.asksForHostname ? sandbox : undefined,
        // The agent decides about restarts, never the engine.
        RestartPolicy: { Name: 'no' },
        ...dockerResources(pod, container, input.node),
        // A pod that has a cgroup of its own is held to that as a whole.
        ...(input.cgroupParent !== '' && { PidsLimit: undefined }),
        CpusetCpus: spec.cpuset,
        CpusetMems: spec.cpusetMems,
        Runtime: runtimeOfHandler(spec.handler),
        CgroupParent: input.cgroupParent,
        GroupAdd: dockerGroups([fsGroup, ...(supplementalGroups ?? []), ...input.extraSupplementalGroups]),
        Privileged: security.privileged === true,
        ReadonlyRootfs: security.readOnlyRootFilesystem === true,
        CapAdd: security.capabilities?.add ?? [],
        CapDrop: security.capabilities?.drop ?? [],
        SecurityOpt: [
          ...selinuxOpts(security.seLinuxOptions),
          ...apparmorOpts(pod, container),
          ...(security.allowPrivilegeEscalation === false ? ['no-new-privileges'] : []),
          ...seccomp,
        ],
        MaskedPaths: unmasked ? [] : maskedPaths,
        ReadonlyPaths: unmasked ? [] : readonlyPaths,
        ShmSize: DEFAULT_SHM_BYTES,
        LogConfig: input.logConfig,
      },
    },
  };
}

function pidMode({ spec }: Pod, sandbox: string, target: string | undefined): string | undefined {
  if (target !== undefined) return `container:${target}`;
  if (spec.hostPID) return 'host';
  return spec.shareProcessNamespace ? sandbox : undefined;
}

function device({ hostPath, containerPath, permissions }: Device): Readonly<Record<string, string>> {
  return { PathOnHost: hostPath, PathInContainer: containerPath, CgroupPermissions: permissions };
}

/** Docker's HOST:CONTAINER[:ATTRIBUTES] (pkg/kubelet/dockershim generateMountBindings). */
function bind({ hostPath, containerPath, readOnly, relabel, propagation }: Mount): string {
  const attributes = [
    ...(readOnly ? ['ro'] : []),
    // The sandbox's own label, which its containers have: other pods have others.
    ...(relabel ? ['Z'] : []),
    ...(propagation === 'bidirectional' ? ['rshared'] : propagation === 'hostToContainer' ? ['rslave'] : []),
  ];
  return [hostPath, containerPath, ...(attributes.length > 0 ? [attributes.join(',')] : [])].join(':');
}

/** The same with more to say; its source is made where it is missing, as there. */
function bindMount({ hostPath, containerPath, recursiveReadOnly, propagation }: Mount): object {
  const Propagation = propagation === 'bidirectional' ? 'rshared' : propagation === 'hostToContainer' ? 'rslave' : 'rprivate';
  const depth = recursiveReadOnly ? { ReadOnlyForceRecursive: true } : { ReadOnlyNonRecursive: true };
  return {
    Type: 'bind',
    Source: hostPath,
    Target: containerPath,
    ReadOnly: true,
    BindOptions: { Propagation, CreateMountpoint: true, ...depth },
  };
}

function imageMount({ imageRef, containerPath, subPath }: ImageMount): object {
  const ImageOptions = subPath === undefined ? undefined : { Subpath: subPath };
  return { Type: 'image', Source: imageRef, Target: containerPath, ReadOnly: true, ImageOptions };
}

const optional = <T>(list: readonly T[]): readonly T[] | undefined => (list.length > 0 ? list : undefined);
