import { join } from 'node:path';
import { errorText } from '../base/error-text.ts';
import { ContainerStartError } from '../model/container-start-error.ts';
import { expandSubPath } from '../model/expansion.ts';
import { quote } from '../model/go-text.ts';
import type { Container } from '../model/pod.ts';
import type { Mount } from '../ports/container-runtime.ts';
import type { HostFiles } from '../ports/host-files.ts';
import type { Mounts } from './mounts.ts';
import { showHostSubPath, showOwnSubPath } from './sub-path.ts';
import type { PresentVolume } from './volume-kind.ts';

type ContainerVolumeMount = NonNullable<Container['volumeMounts']>[number];

export interface ContainerMountFacts {
  /** The pod's volumes by name, as they are there. */
  readonly volumes: ReadonlyMap<string, PresentVolume>;
  readonly env: ReadonlyMap<string, string>;
  /** The pod's own directory. What is in it goes with the pod, and may be mounted to. */
  readonly podDir: string;
  readonly subPathsDir: string;
  readonly mounts: Pick<Mounts, 'bind' | 'share'>;
  readonly hostFiles: HostFiles;
  /** Where the image of a volume is on this machine, which has this directory; undefined: the engine mounts it by itself. */
  readonly imageRoot: (volume: string, directory: string) => Promise<string | undefined>;
  /** Whether the engine can make a mount read-only with all that is mounted below it; asked only where a container wants that. */
  readonly recursiveReadOnly: () => Promise<boolean>;
  /** Whether the machine labels files. */
  readonly selinux: boolean;
  readonly signal: AbortSignal;
}

/** A container's volume mounts, with parts of volumes made ready to be shown (pkg/kubelet makeMounts). Rejects with CreateContainerConfigError. */
export async function containerMounts(container: Container, facts: ContainerMountFacts): Promise<readonly Mount[]> {
  const mounts = (container.volumeMounts ?? []).map(async (mount, i) => {
    const volume = facts.volumes.get(mount.name);
    if (volume === undefined) throw configError(`cannot find volume "${mount.name}" to mount into container "${container.name}"`);
    if (!volume.isImage) return [await oneMount(container, mount, i, volume, facts)];
    const hostPath = await facts.imageRoot(mount.name, volume.hostPath);
    return hostPath === undefined ? [] : [await oneMount(container, mount, i, { ...volume, hostPath }, facts)];
  });
  return (await Promise.all(mounts)).flat();
}

async function oneMount(
  container: Container,
  mount: ContainerVolumeMount,
  i: number,
  volume: PresentVolume,
  facts: ContainerMountFacts,
): Promise<Mount> {
  const { name, mountPath, readOnly: onlyRead, subPath, subPathExpr, mountPropagation } = mount;
  const recursiveReadOnly = await isRecursive(mount, facts);
  const propagation = propagationOf(mountPropagation);
  let { hostPath } = volume;
  if (propagation !== 'private' && hostPath.startsWith(`${facts.podDir}/`)) await facts.mounts.share(hostPath);
  const path = subPathExpr ? expandPath(subPathExpr, facts.env) : subPath;
  if (path) {
    const target = join(facts.subPathsDir, name, container.name, `${i}`);
    try {
      const asked = { volume: hostPath, subPath: path, target, ...(volume.isImage && { mustExist: true }) };
      if (volume.isHosts) await facts.hostFiles.run(showHostSubPath(facts.mounts), asked, facts.signal);
      else await showOwnSubPath(asked, facts.mounts);
    } catch (error) {
      facts.signal.throwIfAborted();
      throw configError(`failed to prepare subPath for volumeMount "${name}" of container "${container.name}": ${errorText(error)}`, error);
    }
    hostPath = target;
  }
  const containerPath = mountPath.startsWith('/') ? mountPath : `/${mountPath}`;
  const { supplementalGroup } = volume;
  return {
    hostPath,
    containerPath,
    readOnly: onlyRead === true || volume.readOnly,
    ...(recursiveReadOnly && { recursiveReadOnly }),
    ...(facts.selinux && volume.isOwn && { relabel: true }),
    ...(propagation !== 'private' && { propagation }),
    ...(supplementalGroup !== undefined && { supplementalGroup }),
  };
}

/** resolveRecursiveReadOnly in pkg/kubelet/kubelet_pods.go. */
async function isRecursive(
  { name, readOnly, recursiveReadOnly = 'Disabled', mountPropagation = 'None' }: ContainerVolumeMount,
  facts: Pick<ContainerMountFacts, 'recursiveReadOnly'>,
): Promise<boolean> {
  if (recursiveReadOnly === 'Disabled') return false;
  const refused = (why: string): ContainerStartError =>
    configError(`failed to resolve recursive read-only mode: volume ${quote(name)} requested recursive read-only mode, but it is ${why}`);
  if (readOnly !== true) throw refused('not read-only');
  if (mountPropagation !== 'None') throw refused(`not compatible with propagation ${quote(mountPropagation)}`);
  if (recursiveReadOnly !== 'Enabled' && recursiveReadOnly !== 'IfPossible') {
    throw configError(`failed to resolve recursive read-only mode: unknown recursive read-only mode ${quote(recursiveReadOnly)}`);
  }
  const can = await facts.recursiveReadOnly();
  if (recursiveReadOnly === 'Enabled' && !can) throw refused('not supported by the runtime');
  return can;
}

function propagationOf(written: string | undefined): NonNullable<Mount['propagation']> {
  switch (written) {
    case undefined:
    case '':
    case 'None':
      return 'private';
    case 'HostToContainer':
      return 'hostToContainer';
    case 'Bidirectional':
      return 'bidirectional';
    default:
      throw configError(`invalid MountPropagation mode: "${written}"`);
  }
}

function expandPath(expression: string, env: ReadonlyMap<string, string>): string {
  try {
    return expandSubPath(expression, env);
  } catch (error) {
    throw configError(errorText(error), error);
  }
}

function configError(message: string, cause?: unknown): ContainerStartError {
  return new ContainerStartError('CreateContainerConfigError', message, { cause });
}
