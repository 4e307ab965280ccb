import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { SerialByKey } from '../base/serial-by-key.ts';
import { allContainers } from '../model/pod-predicates.ts';
import type { Container, Pod, PodUid } from '../model/pod.ts';
import type { Device, Mount } from '../ports/container-runtime.ts';
import type { EngineFeatures } from '../ports/engine-features.ts';
import type { ImageService } from '../ports/image-service.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { CsiVolumes } from '../ports/csi-volumes.ts';
import type { OutOfDate } from '../ports/pod-participant.ts';
import type { VolumeFile } from '../ports/volume-files.ts';
import { holdsState } from './atomic-writer.ts';
import { containerMounts } from './container-mounts.ts';
import type { Disks } from './disks/disks.ts';
import { exportedImage } from './exported-image.ts';
import { FailedMounts, unableToMount } from './failed-mounts.ts';
import type { FlexDrivers } from './flex-drivers.ts';
import type { HostFiles } from '../ports/host-files.ts';
import type { Mounts } from './mounts.ts';
import type { PayloadFacts } from './payload.ts';
import { PodDirectories } from './pod-directories.ts';
import { readVolumeFile } from './read-volume-file.ts';
import { removeTree } from './remove-tree.ts';
import { mountFault } from './mount-fault.ts';
import { type Swept, sweepPods } from './sweep-pods.ts';
import { type BookedVolume, bookedVolume, VolumeBook, type VolumeBookDeps } from './volume-book.ts';
import { type ClaimFacts, type ResolvedVolume, resolveVolume, type VolumeUse } from './resolve-volume.ts';
import { MountStepError } from '../model/mount-step-error.ts';
import { type PodVolume, type PresentVolume, type VolumeKind, VolumeRefusedError } from './volume-kind.ts';
import { kindOf } from './volume-kinds.ts';
import type { VolumeGrowth } from './volume-growth.ts';

export interface PodVolumes {
  /**
   * Makes the volumes that the pod's containers mount as they should be now; equal ones are left alone. Rejects when one that the pod has never
   * had cannot be made; one that it has keeps its last state, and what then is out of date is the result. Either is recorded in FailedMount events.
   */
  prepare(pod: Pod, signal: AbortSignal): Promise<OutOfDate | undefined>;
  /** Whether the pod, as it is given, has all its volumes, and none of them changes. */
  isPrepared(pod: Pod): boolean;
  /**
   * What a container of this environment mounts, once the pod is prepared; `imageRefs`: what the engine calls the images among its
   * volumes that it does not mount by itself. Rejects with CreateContainerConfigError.
   */
  mountsFor(
    pod: Pod,
    container: Container,
    env: ReadonlyMap<string, string>,
    signal: AbortSignal,
    imageRefs?: ReadonlyMap<string, string>,
  ): Promise<readonly Mount[]>;
  /** The devices that a container is given, once the pod is prepared. */
  devicesFor(pod: Pod, container: Container): readonly Device[];
  /** See VolumeFiles. */
  readFile(pod: Pod, volume: string, path: string, signal: AbortSignal): Promise<VolumeFile | undefined>;
  /** Unmounts and removes the volumes of a pod whose containers have all ended for good. Succeeds when there are none. */
  tearDown(uid: PodUid, signal: AbortSignal): Promise<void>;
  /**
   * The same, and the pod's directory with them. Rejects while a volume is in use: nothing is removed through a mount. What an abort leaves is
   * removed when it is asked for again.
   */
  remove(uid: PodUid, signal: AbortSignal): Promise<void>;
  /** Whether something of the pod's volumes is left on this node. */
  remain(uid: PodUid): Promise<boolean>;
  /**
   * Removes what pods left that are known no more. `isKnown` is asked for each pod that has a directory, and must not forget one that runs or that
   * a source may still declare. Resolves with what it removed, and with what could not be and may be later.
   */
  sweep(isKnown: (uid: PodUid) => Promise<boolean>, signal: AbortSignal): Promise<Swept>;
  /** The part of /metrics about which volumes there are. */
  metrics(): string;
}

export interface PodVolumesDeps {
  readonly rootDir: string;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly events: EventRecorder;
  readonly tell: VolumeBookDeps['tell'];
  /** What volumes are made of, where that depends on the pod. */
  readonly factsFor: (pod: Pod) => PayloadFacts & ClaimFacts;
  readonly mounts: Mounts;
  /** What drivers make; known when the first pod is looked at. */
  readonly csi: () => CsiVolumes;
  readonly flex: FlexDrivers;
  readonly disks: Disks;
  readonly growth: Pick<VolumeGrowth, 'keep' | 'forget'>;
  readonly nodeName: string;
  readonly hostFiles: HostFiles;
  readonly engineFeatures: (signal: AbortSignal) => Promise<EngineFeatures>;
  readonly images: Pick<ImageService, 'exportImage'>;
  /** Whether the machine labels files. */
  readonly selinux: boolean;
}

/** Volumes where the kubelet has them: ROOT/pods/UID/volumes/PLUGIN/NAME. After a restart what is there is found again. */
export function podVolumes({
  rootDir,
  clock,
  events,
  tell,
  factsFor,
  mounts,
  csi,
  flex,
  disks,
  growth,
  nodeName,
  hostFiles,
  engineFeatures,
  images,
  selinux,
}: PodVolumesDeps): PodVolumes {
  const directories = new PodDirectories(rootDir);
  const failedMounts = new FailedMounts(clock, events);
  const book = new VolumeBook({ clock, tell });
  const serial = new SerialByKey<PodUid>();
  /** By directory: two mounts of a container may show one image. */
  const exports = new SerialByKey<string>();
  const turns = new SerialByKey<string>();
  /** The actual world, as far as this process has seen it. */
  const present = new Map<PodUid, Map<string, Present>>();

  /** Pods that have all their volumes, of which none changes. */
  const complete = new Map<PodUid, Pod>();

  interface Present extends PresentVolume {
    readonly changes: boolean;
  }

  const setUp = async (
    pod: Pod,
    volume: string,
    { name, readOnly, mountOptions, supplementalGroup }: ResolvedVolume,
    kind: VolumeKind,
    booked: BookedVolume,
    signal: AbortSignal,
  ): Promise<PresentVolume> => {
    if (mountOptions.length > 0 && !kind.takesMountOptions)
      throw new MountStepError('MountOptionSupport check', 'Mount options are not supported for this volume type');
    const directory = directories.volume(pod.metadata.uid, kind.plugin, name);
    const facts = factsFor(pod);
    const task = {
      pod,
      name,
      volume,
      directory,
      readOnly,
      mountOptions,
      facts,
      mounts,
      csi: csi(),
      flex,
      disks,
      growth,
      nodeName,
      hostFiles,
      giving: (work: () => Promise<void>) => book.giving(booked, signal, work),
      turns,
      podsDir: directories.root,
      nowMs: clock.now(),
    };
    return { ...(await kind.setUp(task, signal)), supplementalGroup };
  };

  /** Resolves with what is wrong with the volume: the pod must go without it, or has it as it was before. Records what fails. */
  const prepareOne = async (
    pod: Pod,
    volume: PodVolume,
    how: VolumeUse,
    signal: AbortSignal,
  ): Promise<VolumeFault | OutOfDate | undefined> => {
    const { uid } = pod.metadata;
    const ofPod = present.get(uid) ?? new Map<string, Present>();
    const before = ofPod.get(volume.name);
    if (before?.changes === false) return undefined;
    let resolved: ResolvedVolume;
    let kind: VolumeKind | undefined;
    try {
      resolved = await resolveVolume(volume, pod, how, factsFor(pod), signal);
      kind = kindOf(resolved.source);
      if (kind === undefined)
        throw new VolumeRefusedError(`volume "${resolved.name}" is of kind ${resolved.kind}, which this node does not support`);
    } catch (error) {
      signal.throwIfAborted();
      return { error, refused: true, message: errorText(error) };
    }
    const { changes, plugin } = kind;
    const { source, refusal } = resolved;
    const booked = bookedVolume(kind, source, how === 'device');
    const make = async (): Promise<PresentVolume> => {
      if (refusal) throw refusal;
      return setUp(pod, volume.name, resolved, kind, booked, signal);
    };
    try {
      const made = await book.making(uid, volume.name, booked, signal, make);
      const shown = { ...made, changes, ...(how === 'device' && { isDevice: true as const }) };
      present.set(uid, ofPod.set(volume.name, shown));
      failedMounts.worked(pod, volume.name);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      const fault = mountFault(how, resolved.name, error);
      const { message } = fault;
      const retryInMs = failedMounts.failed(pod, volume.name, fault);
      if (before !== undefined) return { message, retryInMs };
      const directory = directories.volume(uid, plugin, resolved.name);
      if (!changes || !(await holdsState(directory))) return { error, refused: false, message };
      // As it was before the agent was started.
      book.found(uid, volume.name, booked);
      present.set(uid, ofPod.set(volume.name, { hostPath: directory, readOnly: true, isOwn: true, supplementalGroup: undefined, changes }));
      return { message, retryInMs };
    }
  };

  const prepare = async (pod: Pod, signal: AbortSignal): Promise<OutOfDate | undefined> => {
    const { mounted, devices } = volumesInUse(pod);
    const faults = new Map<string, VolumeFault>();
    const outOfDate: OutOfDate[] = [];
    for (const volume of pod.spec.volumes ?? []) {
      if (!mounted.has(volume.name) && !devices.has(volume.name)) continue;
      const fault = await prepareOne(pod, volume, devices.has(volume.name) ? 'device' : 'mount', signal);
      if (fault === undefined) continue;
      if ('retryInMs' in fault) outOfDate.push(fault);
      else faults.set(volume.name, fault);
    }
    const all = [...new Set([...mounted, ...devices])];
    const unmounted = [...faults.keys()];
    const refused = [...faults.values()].filter((fault) => fault.refused);
    if (refused.length > 0) {
      const message = unableToMount(unmounted, all, refused.map((fault) => fault.message).join('; '));
      failedMounts.failed(pod, REFUSED, { reason: 'FailedMount', message });
      throw new Error(message, { cause: refused[0]?.error });
    }
    failedMounts.worked(pod, REFUSED);
    const [first] = faults.values();
    if (first) {
      failedMounts.waits(pod, unmounted, all);
      throw new Error(first.message, { cause: first.error });
    }
    failedMounts.complete(pod);
    const { uid } = pod.metadata;
    if (![...(present.get(uid)?.values() ?? [])].some(({ changes }) => changes)) complete.set(uid, pod);
    if (outOfDate.length === 0) return undefined;
    const message = outOfDate.map((each) => each.message).join('; ');
    return { message, retryInMs: Math.min(...outOfDate.map(({ retryInMs }) => retryInMs)) };
  };

  const tearDown = async (uid: PodUid, whole: boolean, signal: AbortSignal): Promise<void> => {
    failedMounts.forget(uid);
    complete.delete(uid);
    present.delete(uid);
    book.unwant(uid);
    growth.forget(uid);
    // What is shown of drivers' volumes goes before they do; they are their drivers' to take back.
    await mounts.unmountBelow(directories.subPaths(uid));
    await csi().unpublish(uid, signal);
    await book.ending(uid, signal, async () => {
      await flex.unmountBelow(directories.volumes(uid), signal);
      // One that is in use rejects here: nothing is deleted through a mount.
      await mounts.unmountBelow(directories.of(uid));
      for (const directory of [directories.subPaths(uid), directories.volumes(uid)]) await removeTree(directory, signal);
      await disks.unpublish(uid, signal);
    });
    if (whole) await removeTree(directories.of(uid), signal);
  };

  const remain = async (uid: PodUid): Promise<boolean> =>
    (await directories.hasVolumes(uid)) || (await csi().remain(uid)) || (await disks.remain(uid));

  return {
    prepare: (pod, signal) => serial.run(pod.metadata.uid, () => prepare(pod, signal)),
    isPrepared: (pod) => complete.get(pod.metadata.uid) === pod,
    mountsFor: (pod, container, env, signal, imageRefs) => {
      const { uid } = pod.metadata;
      const podDir = directories.of(uid);
      const subPathsDir = directories.subPaths(uid);
      return containerMounts(container, {
        volumes: present.get(uid) ?? new Map(),
        env,
        podDir,
        subPathsDir,
        mounts,
        hostFiles,
        selinux,
        imageRoot: async (volume, directory) => {
          const imageRef = imageRefs?.get(volume);
          return imageRef === undefined ? undefined : exports.run(directory, () => exportedImage({ imageRef, directory }, images, signal));
        },
        // What another handler cannot do, the engine refuses.
        recursiveReadOnly: async () => (await engineFeatures(signal)).handlers[0]?.recursiveReadOnly ?? false,
        signal,
      });
    },
    devicesFor: ({ metadata }, { volumeDevices = [] }) =>
      volumeDevices.flatMap(({ name, devicePath }) => {
        const found = present.get(metadata.uid)?.get(name);
        if (found?.isDevice !== true) return [];
        return [{ hostPath: found.hostPath, containerPath: devicePath, permissions: found.readOnly ? 'r' : 'rwm' }];
      }),
    async readFile({ metadata }, volume, path, signal) {
      const found = present.get(metadata.uid)?.get(volume);
      if (found === undefined || found.isImage || found.isDevice) return undefined;
      const text = await hostFiles.run(readVolumeFile, { volume: found.hostPath, path }, signal);
      return { path: join(found.hostPath, path), text };
    },
    tearDown: (uid, signal) =>
      serial.run(uid, async () => {
        book.unwant(uid);
        if (present.has(uid) || (await remain(uid))) await tearDown(uid, false, signal);
      }),
    remove: (uid, signal) => serial.run(uid, () => tearDown(uid, true, signal)),
    remain,
    sweep: async (isKnown, signal) =>
      sweepPods(
        {
          uids: await directories.list(),
          isKnown,
          remove: (uid) => tearDown(uid, true, signal),
          alone: (uid, work) => serial.run(uid, work),
        },
        signal,
      ),
    metrics: () => book.text(),
  };
}

interface VolumeFault {
  readonly error: unknown;
  /** Nothing was tried. */
  readonly refused: boolean;
  readonly message: string;
}

/** No volume has this name. */
const REFUSED = '';

/** What no container uses is not made (pkg/volume/util GetPodVolumeNames). */
function volumesInUse({ spec }: Pod): { readonly mounted: ReadonlySet<string>; readonly devices: ReadonlySet<string> } {
  const containers = allContainers(spec);
  return {
    mounted: new Set(containers.flatMap(({ volumeMounts }) => (volumeMounts ?? []).map(({ name }) => name))),
    devices: new Set(containers.flatMap(({ volumeDevices }) => (volumeDevices ?? []).map(({ name }) => name))),
  };
}
