import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ContainerStartError } from '../model/container-start-error.ts';
import type { Container, Pod, PodUid } from '../model/pod.ts';
import type { Mount } from '../ports/container-runtime.ts';

type Volume = NonNullable<Pod['spec']['volumes']>[number];

export interface PodVolumes {
  /** What the container mounts. Makes the directories of emptyDir volumes. Rejects with CreateContainerConfigError for a volume that is not supported. */
  mountsFor(pod: Pod, container: Container): Promise<readonly Mount[]>;
  /** Removes what the pod's volumes left on disk. Succeeds when there is nothing. */
  remove(uid: PodUid): Promise<void>;
}

/** hostPath and emptyDir volumes, the latter where the kubelet has them: ROOT/pods/UID/volumes/kubernetes.io~empty-dir/NAME. */
export function podVolumes(rootDir: string): PodVolumes {
  return {
    mountsFor: (pod, container) =>
      Promise.all(
        (container.volumeMounts ?? []).map(async ({ name, mountPath, readOnly, subPath, subPathExpr }): Promise<Mount> => {
          const volume = pod.spec.volumes?.find((each) => each.name === name);
          if (!volume)
            throw new ContainerStartError('CreateContainerConfigError', `volume mount ${mountPath}: the pod has no volume "${name}"`);
          if (subPath || subPathExpr) throw notSupported(`volume mount ${mountPath}: subPath`);
          return { hostPath: await hostPathOf(rootDir, pod.metadata.uid, volume), containerPath: mountPath, readOnly: readOnly ?? false };
        }),
      ),
    remove: (uid) => rm(podDir(rootDir, uid), { recursive: true, force: true }),
  };
}

async function hostPathOf(rootDir: string, uid: PodUid, volume: Volume): Promise<string> {
  if (volume.hostPath) return volume.hostPath.path;
  if (volume.emptyDir) {
    const path = join(podDir(rootDir, uid), 'volumes', 'kubernetes.io~empty-dir', volume.name);
    await mkdir(path, { recursive: true });
    // Any user of a container may write there, as under the kubelet; mkdir's own mode is cut by the umask.
    await chmod(path, 0o777);
    return path;
  }
  const kind = Object.keys(volume).find((key) => key !== 'name') ?? 'unknown';
  throw notSupported(`volume "${volume.name}" of kind ${kind}`);
}

function notSupported(what: string): ContainerStartError {
  return new ContainerStartError('CreateContainerConfigError', `${what} is not supported yet`);
}

/** A pod's uid comes from its manifest: it must not lead out of the root directory. */
function podDir(rootDir: string, uid: PodUid): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(uid))
    throw new ContainerStartError('CreateContainerConfigError', `pod uid "${uid}" cannot name a directory`);
  return join(rootDir, 'pods', uid);
}
