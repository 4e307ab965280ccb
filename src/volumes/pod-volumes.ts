import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { ContainerStartError } from '../model/container-start-error.ts';
import { Quantity } from '../model/quantity.ts';
import { expand } from '../model/expansion.ts';
import type { Container, Pod, PodUid } from '../model/pod.ts';
import type { Mount } from '../ports/container-runtime.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import { holdsState, own, writeAtomically } from './atomic-writer.ts';
import { configMapPayload } from './config-map-volume.ts';
import { downwardApiPayload } from './downward-api-volume.ts';
import { FailedMounts } from './failed-mounts.ts';
import { type Mounts, mounts as systemMounts } from './mounts.ts';
import type { PayloadFacts, PayloadFile } from './payload.ts';
import { projectedPayload } from './projected-volume.ts';
import { secretPayload } from './secret-volume.ts';
import { showSubPath } from './sub-path.ts';

type Volume = NonNullable<Pod['spec']['volumes']>[number];

export interface PodVolumes {
  /**
   * Makes the pod's volumes as they should be now; equal ones are left alone. Rejects when one that the pod has never had cannot be made;
   * one that it has keeps its last state. Either is told in FailedMount events.
   */
  prepare(pod: Pod, signal: AbortSignal): Promise<void>;
  /** What a container of this environment mounts, once the pod is prepared. Rejects with CreateContainerConfigError for a volume that is not supported. */
  mountsFor(pod: Pod, container: Container, env: ReadonlyMap<string, string>): Promise<readonly Mount[]>;
  /** Removes what the pod's volumes left on disk. Succeeds when there is nothing. */
  remove(uid: PodUid): Promise<void>;
}

export interface PodVolumesDeps {
  readonly rootDir: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly events: EventRecorder;
  readonly facts: PayloadFacts;
  /** Another one than the kernel's, for tests. */
  readonly mounts?: Mounts;
}

/** Volumes where the kubelet has them: ROOT/pods/UID/volumes/PLUGIN/NAME. */
export function podVolumes({ rootDir, clock, events, facts, mounts = systemMounts }: PodVolumesDeps): PodVolumes {
  const failedMounts = new FailedMounts(clock, events);

  const prepareOne = async (pod: Pod, volume: Volume, signal: AbortSignal): Promise<void> => {
    const kind = kindOf(volume);
    if (kind === 'hostPath') return;
    const directory = volumeDir(rootDir, pod.metadata.uid, volume);
    const fsGroup = pod.spec.securityContext?.fsGroup;
    if (kind === 'emptyDir') {
      await makeDir(directory, fsGroup);
      const { medium, sizeLimit } = volume.emptyDir ?? {};
      const sizeBytes = sizeLimit === undefined ? undefined : Quantity.fromJson(sizeLimit).value();
      if (medium === 'Memory') await mounts.tmpfs(directory, { sizeBytes, fsGroup });
      return;
    }
    const files = await payloadOf(volume, pod, facts, signal);
    await makeDir(directory, fsGroup);
    await writeAtomically(directory, files, { nowMs: clock.now(), fsGroup });
  };

  return {
    async prepare(pod, signal) {
      const failures: Error[] = [];
      for (const volume of pod.spec.volumes ?? []) {
        if (kindOf(volume) === undefined) continue;
        try {
          await prepareOne(pod, volume, signal);
          failedMounts.worked(pod, volume.name);
        } catch (error) {
          signal.throwIfAborted();
          const message = `MountVolume.SetUp failed for volume "${volume.name}" : ${errorText(error)}`;
          failedMounts.failed(pod, volume.name, message);
          if (!(await holdsState(volumeDir(rootDir, pod.metadata.uid, volume)))) failures.push(new Error(message, { cause: error }));
        }
      }
      if (failures[0]) throw failures[0];
    },
    mountsFor: (pod, container, env) =>
      Promise.all(
        (container.volumeMounts ?? []).map(async ({ name, mountPath, readOnly, subPath, subPathExpr }, i): Promise<Mount> => {
          const volume = pod.spec.volumes?.find((each) => each.name === name);
          if (!volume)
            throw new ContainerStartError('CreateContainerConfigError', `volume mount ${mountPath}: the pod has no volume "${name}"`);
          const kind = kindOf(volume);
          if (kind === undefined) {
            const unknown = Object.keys(volume).find((key) => key !== 'name') ?? 'unknown';
            throw notSupported(`volume "${volume.name}" of kind ${unknown}`);
          }
          const { uid } = pod.metadata;
          let hostPath = volume.hostPath ? volume.hostPath.path : volumeDir(rootDir, uid, volume);
          const path = subPathExpr ? expandPath(subPathExpr, env) : subPath;
          if (path) {
            const target = join(podDir(rootDir, uid), 'volume-subpaths', name, container.name, `${i}`);
            try {
              await showSubPath(hostPath, path, target, mounts);
            } catch (error) {
              const what = `failed to prepare subPath for volumeMount "${name}" of container "${container.name}"`;
              throw new ContainerStartError('CreateContainerConfigError', `${what}: ${errorText(error)}`, { cause: error });
            }
            hostPath = target;
          }
          return {
            hostPath,
            containerPath: mountPath,
            readOnly: readOnly === true || (kind !== 'hostPath' && kind !== 'emptyDir'),
          };
        }),
      ),
    remove: async (uid) => {
      failedMounts.forget(uid);
      // One that is in use rejects here: nothing is deleted through a mount.
      await mounts.unmountBelow(podDir(rootDir, uid));
      await rm(podDir(rootDir, uid), { recursive: true, force: true });
    },
  };
}

/** The kinds that there are, by the directories of their plugins; a hostPath has none. */
const plugins = {
  hostPath: '',
  emptyDir: 'kubernetes.io~empty-dir',
  secret: 'kubernetes.io~secret',
  configMap: 'kubernetes.io~configmap',
  downwardAPI: 'kubernetes.io~downward-api',
  projected: 'kubernetes.io~projected',
} as const;
type VolumeKind = keyof typeof plugins;
const kinds = Object.keys(plugins) as readonly VolumeKind[];

function kindOf(volume: Volume): VolumeKind | undefined {
  return kinds.find((kind) => volume[kind] !== undefined);
}

async function payloadOf(
  { secret, configMap, downwardAPI, projected }: Volume,
  pod: Pod,
  facts: PayloadFacts,
  signal: AbortSignal,
): Promise<readonly PayloadFile[]> {
  if (secret) return secretPayload(secret, pod, facts, signal);
  if (configMap) return configMapPayload(configMap, pod, facts, signal);
  if (projected) return projectedPayload(projected, pod, facts, signal);
  return downwardAPI ? downwardApiPayload(downwardAPI, pod, facts) : [];
}

/**
 * Nobody but root comes through the directories above. Appears with its mode and group or not at all, whatever happens to the agent; what a
 * container made of it later stays.
 */
async function makeDir(directory: string, fsGroup: number | undefined): Promise<void> {
  if (existsSync(directory)) return;
  const above = dirname(directory);
  await mkdir(above, { recursive: true, mode: 0o700 });
  const draft = await mkdtemp(join(above, '..'));
  await own(draft, fsGroup, true);
  // Any user of a container may write there, as under the kubelet.
  await chmod(draft, fsGroup === undefined ? 0o777 : 0o2777);
  await rename(draft, directory);
}

/** Every variable must be there (pkg/kubelet/container ExpandContainerVolumeMounts). */
function expandPath(expression: string, env: ReadonlyMap<string, string>): string {
  return expand(expression, (name) => {
    const value = env.get(name);
    if (value !== undefined) return value;
    throw new ContainerStartError('CreateContainerConfigError', `subPathExpr "${expression}": missing value for "${name}"`);
  });
}

function notSupported(what: string): ContainerStartError {
  return new ContainerStartError('CreateContainerConfigError', `${what} is not supported yet`);
}

function volumeDir(rootDir: string, uid: PodUid, volume: Volume): string {
  return join(podDir(rootDir, uid), 'volumes', plugins[kindOf(volume) ?? 'emptyDir'], volume.name);
}

/** A pod's uid comes from its manifest: it must not lead out of the root directory. */
function podDir(rootDir: string, uid: PodUid): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(uid))
    throw new ContainerStartError('CreateContainerConfigError', `pod uid "${uid}" cannot name a directory`);
  return join(rootDir, 'pods', uid);
}
