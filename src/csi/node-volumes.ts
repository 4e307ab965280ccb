import { symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../base/error-code.ts';
import { errorText } from '../base/error-text.ts';
import { SerialByKey } from '../base/serial-by-key.ts';
import { type MountStep, MountStepError } from '../model/mount-step-error.ts';
import type { PodUid } from '../model/pod.ts';
import type { CsiVolumeTask } from '../ports/csi-volumes.ts';
import { csiPlugin, type StorageKind, type StorageTeller, toldStorage } from '../ports/storage-operation.ts';
import { CsiCallError } from './csi-call-error.ts';
import type { CsiDriver } from './csi-driver.ts';
import type { CsiDrivers } from './csi-drivers.ts';
import { type KnownVolumes, type StagedVolume, type Use, usesOf, volumeKey } from './known-volumes.ts';
import { clientWords, inStep, stepError, stepsOf } from './mount-steps.ts';
import { checkPublished, isMounted, makeDirectoryAt, otherMountsOf, removeEmpty, removeTarget } from './mounted.ts';
import { mountContext } from './selinux-context.ts';
import type { VolumeCalls, VolumeOrder } from './volume-calls.ts';
import { readVolumeData, removeVolumeData, type VolumeData, writeVolumeData } from './volume-data.ts';
import type { VolumeObjects } from './volume-objects.ts';
import { attachmentName, type CsiPaths } from './volume-paths.ts';
import { bytesToGrowTo, groupGiver, isForOnePod, lifecycleFault, needsAttach, type VolumePlan, volumePlan } from './volume-plan.ts';

export interface NodeVolumesDeps extends StorageTeller {
  readonly drivers: Pick<CsiDrivers, 'get'>;
  readonly paths: CsiPaths;
  readonly nodeName: string;
  readonly known: KnownVolumes;
  readonly objects: VolumeObjects;
  /** Loaded when they are first needed. */
  readonly calls: () => Promise<VolumeCalls>;
  /** The file system of a claim's volume has grown. */
  readonly grown: (task: CsiVolumeTask, signal: AbortSignal) => Promise<void>;
  /** No pod has the volume any more. */
  readonly idle: (key: string) => void;
  /** How files of containers are labelled by default; undefined: this machine does not label them. */
  readonly fileContext: () => Promise<string | undefined>;
  /** Comes before each change of the disk and each call of a driver: a test ends the process there. */
  readonly before?: (effect: string) => Promise<void>;
}

/**
 * Stages, publishes and takes back volumes. What a call is about is on the disk before it begins, and goes when it is known to be undone, so that an
 * agent that is killed anywhere leaves nothing that the next one does not find. Drivers answer a call that is made again as the first time.
 */
export class NodeVolumes {
  readonly #deps: NodeVolumesDeps;
  readonly #serial = new SerialByKey<string>();

  constructor(deps: NodeVolumesDeps) {
    this.#deps = deps;
  }

  /** See CsiVolumes. */
  async publish(task: CsiVolumeTask, signal: AbortSignal): Promise<string> {
    const { drivers, known, objects } = this.#deps;
    const plan = volumePlan(task);
    const use = this.#useOf(task, plan);
    const found = known.used(use.paths.directory);
    if (found !== undefined && (await isWhole(found, use.data))) {
      found.task = task;
      return found.paths.target;
    }
    const driver = inStep(stepsOf(plan).device, `kubernetes.io/csi: ${clientWords(plan)}`, () => drivers.get(plan.driver));
    const object = await objects.driver(driver.name, signal);
    const fault = lifecycleFault(plan, object);
    if (fault !== undefined)
      throw new MountStepError('SetUp', `kubernetes.io/csi: mounter.SetupAt failed to check volume lifecycle mode: ${fault}`);
    // From here on a pod has it, or may have: it is neither unstaged nor detached.
    if (found === undefined) known.use(use);
    const isAttached = needsAttach(plan, object);
    if (isAttached) known.attach(plan.driver, plan.handle);
    const publishContext = isAttached ? await objects.attached(plan, signal) : {};
    const staging = plan.isPersistent && driver.can('STAGE_UNSTAGE_VOLUME') ? this.#stagedPaths(plan).staging : '';
    const context = mountContext(plan, task.pod, task.volume, object, await this.#deps.fileContext());
    const order = { plan, pod: task.pod, driver, object, publishContext, staging, target: use.paths.target, context };
    await this.#serial.runWithin(volumeKey(plan.driver, plan.handle), signal, () => this.#make(task, found ?? use, order, signal));
    return use.paths.target;
  }

  /** See CsiVolumes. */
  hasContext(target: string): boolean {
    return this.#deps.known.uses().some(({ paths, data }) => paths.target === target && data.selinuxMountContext !== undefined);
  }

  /** See CsiVolumes. */
  async unpublish(uid: PodUid, signal: AbortSignal): Promise<void> {
    const { known, paths, idle } = this.#deps;
    const recorded = await usesOf(paths, uid, readOrRemove);
    const all = new Map([...known.usesOfPod(uid), ...recorded].map((use) => [use.paths.directory, use]));
    const isRecorded = new Set(recorded.map((use) => use.paths.directory));
    const ends = [...all.values()].map((use) => {
      const key = volumeKey(use.data.driverName, use.data.volumeHandle);
      return this.#serial.runWithin(key, signal, async () => {
        if (isRecorded.has(use.paths.directory)) {
          const what = { operation: use.isBlock ? 'unmap_volume' : 'volume_unmount', ...kindOf(use) } as const;
          await toldStorage(this.#deps, [what], signal, () => this.#takeBack(use, signal));
        }
        known.unuse(use);
        idle(key);
      });
    });
    for (const end of await Promise.allSettled(ends)) if (end.status === 'rejected') throw end.reason;
  }

  async remain(uid: PodUid): Promise<boolean> {
    return (await usesOf(this.#deps.paths, uid).catch(() => ['something'])).length > 0;
  }

  /** Makes a volume's calls again: what the driver shows is renewed, or has grown. Nothing is done for one that is no longer there. */
  async renew(use: Use, change: 'publish' | 'grow', signal: AbortSignal): Promise<void> {
    const { drivers, known, objects, calls, grown } = this.#deps;
    const { task } = use;
    if (task === undefined) return;
    const plan = volumePlan(task);
    const driver = drivers.get(plan.driver);
    const object = await objects.driver(driver.name, signal);
    const staging = plan.isPersistent && driver.can('STAGE_UNSTAGE_VOLUME') ? this.#stagedPaths(plan).staging : '';
    const publishContext = change === 'publish' && needsAttach(plan, object) ? await objects.attached(plan, signal) : {};
    await this.#serial.runWithin(volumeKey(plan.driver, plan.handle), signal, async () => {
      if (known.used(use.paths.directory) !== use) return;
      const context = use.data.selinuxMountContext;
      const order = { plan, pod: task.pod, driver, object, publishContext, staging, target: use.paths.target, context };
      const bytes = bytesToGrowTo(task);
      if (change === 'publish') await (await calls()).publish(order, signal);
      else if (bytes !== undefined) {
        const what = { operation: 'volume_fs_resize', plugin: csiPlugin(plan.driver), isMigrated: plan.isMigrated } as const;
        await toldStorage(this.#deps, [what], signal, async () => (await calls()).expand(order, bytes, signal));
        await grown(task, signal);
      }
    });
  }

  /** Takes back what no pod has any more. Resolves with whether the volume is no longer staged, or is used again. */
  async unstage(key: string, driver: CsiDriver, signal: AbortSignal): Promise<void> {
    const { known } = this.#deps;
    await this.#serial.runWithin(key, signal, async () => {
      const staged = known.staged(key);
      if (staged === undefined || known.usesOf(key).length > 0) return;
      const what = { operation: staged.isBlock ? 'unmap_device' : 'unmount_device', plugin: csiPlugin(staged.driver) } as const;
      await toldStorage(this.#deps, [what], signal, () => this.#takeBackStage(staged, driver, signal));
    });
  }

  #useOf({ pod, name }: CsiVolumeTask, plan: VolumePlan): Use {
    const { paths, nodeName } = this.#deps;
    const { uid } = pod.metadata;
    const data: VolumeData = {
      driverName: plan.driver,
      volumeHandle: plan.handle,
      specVolID: name,
      nodeName,
      ...(plan.isPersistent && { attachmentID: attachmentName(plan.handle, plan.driver, nodeName) }),
      volumeLifecycleMode: plan.isPersistent ? 'Persistent' : 'Ephemeral',
    };
    const own = plan.isBlock ? paths.publishedDevice(uid, name) : paths.published(uid, name);
    return { uid, name, paths: own, data, isBlock: plan.isBlock, begun: false };
  }

  #stagedPaths({ driver, handle, isBlock, name }: VolumePlan): ReturnType<CsiPaths['staged']> {
    const { known, paths } = this.#deps;
    return known.staged(volumeKey(driver, handle))?.paths ?? (isBlock ? paths.stagedDevice(name) : paths.staged(driver, handle));
  }

  async #make(task: CsiVolumeTask, use: Use, order: VolumeOrder, signal: AbortSignal): Promise<void> {
    const { known, calls, grown } = this.#deps;
    const { plan, pod, driver, object, target } = order;
    const steps = stepsOf(plan);
    const others = known.usesOf(volumeKey(plan.driver, plan.handle)).filter(({ uid, begun }) => begun && uid !== use.uid);
    if (isForOnePod(plan) && others.length > 0) {
      throw new MountStepError('SetUp', 'volume uses the ReadWriteOncePod access mode and is already in use by another pod');
    }
    use.begun = true;
    use.data = { ...this.#useOf(task, plan).data, ...selinux(order.context) };
    await this.#record(use);
    if (others.length === 0) await this.#restage(order, signal);
    if (order.staging !== '') await this.#stage(order, steps.device, signal);
    try {
      await this.#before('publish');
      await (await calls()).publish(order, signal);
      await this.#before('published');
      await checkPublished(target, plan.isBlock);
    } catch (error) {
      signal.throwIfAborted();
      // What has surely not been done need not be undone. All else is the pod's to undo.
      if (error instanceof CsiCallError && !error.isUncertain && !(await isMounted(target))) {
        await this.#forget(use);
        use.begun = false;
      }
      throw stepError(steps.pod, error, plan.isBlock ? '' : 'kubernetes.io/csi: mounter.SetUpAt failed: ');
    }
    const bytes = bytesToGrowTo(task);
    if (bytes !== undefined) {
      await (await calls()).expand(order, bytes, signal);
      await grown(task, signal);
    }
    const fsGroup = pod.spec.securityContext?.fsGroup;
    if (fsGroup !== undefined && groupGiver(plan, pod, driver, object) === 'agent') {
      await task.giveToGroup(target, fsGroup, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new MountStepError('SetUp', `applyFSGroup failed for vol ${plan.handle}: ${errorText(error)}`, error);
      });
    }
    await this.#before('completion');
    const whole: VolumeData = { ...use.data, complete: 'true' };
    if (!plan.isBlock) await writeVolumeData(use.paths.data, whole);
    known.use({ ...use, data: whole, task });
  }

  async #record({ paths, data, isBlock }: Use): Promise<void> {
    await this.#before('record');
    await makeDirectoryAt(paths.data);
    await writeVolumeData(paths.data, data);
    if (!isBlock) return;
    await makeDirectoryAt(dirname(paths.target));
    await makeDirectoryAt(dirname(paths.directory));
    await symlink(paths.target, paths.directory).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  }

  async #stage(order: VolumeOrder, step: MountStep, signal: AbortSignal): Promise<void> {
    const { known, calls } = this.#deps;
    const { driver, handle, isBlock } = order.plan;
    const key = volumeKey(driver, handle);
    const before = known.staged(key);
    if (before?.isSure) return;
    const { context } = order;
    const volume = before ?? { driver, handle, paths: this.#stagedPaths(order.plan), isBlock, isSure: false, context };
    known.stage(volume);
    await this.#before('record of stage');
    // A device has one place for what is to be known of it.
    if (!isBlock) {
      await makeDirectoryAt(volume.paths.directory);
      await writeVolumeData(volume.paths.directory, { driverName: driver, volumeHandle: handle, ...selinux(context) });
    }
    await this.#before('directory of stage');
    await makeDirectoryAt(volume.paths.staging);
    try {
      await this.#before('stage');
      await (await calls()).stage(order, signal);
      await this.#before('staged');
      volume.isSure = true;
    } catch (error) {
      signal.throwIfAborted();
      throw stepError(step, error);
    }
  }

  /** What is mounted keeps its context until it is unmounted: a volume that no pod has is staged again for a pod that wants another one. */
  async #restage({ plan, driver, context, target }: VolumeOrder, signal: AbortSignal): Promise<void> {
    const staged = this.#deps.known.staged(volumeKey(plan.driver, plan.handle));
    if (staged === undefined || staged.context === context || (await isMounted(target))) return;
    await this.#takeBackStage(staged, driver, signal);
  }

  async #takeBackStage(staged: StagedVolume, driver: CsiDriver, signal: AbortSignal): Promise<void> {
    const { known, calls, paths } = this.#deps;
    staged.isSure = false;
    const { directory, staging } = staged.paths;
    const shown = await otherMountsOf(staging, paths.pods);
    if (shown !== undefined) throw new Error(`no pod is known to have the volume, but it is mounted at ${shown}`);
    // A driver that has learnt to stage since, or no longer does, has nothing to take back.
    await this.#before('unstage');
    if (driver.can('STAGE_UNSTAGE_VOLUME')) await (await calls()).unstage(staged.handle, staging, driver, signal);
    await this.#before('unstaged');
    await removeTarget(staging);
    await this.#before('removal of the stage');
    await removeVolumeData(directory);
    await this.#before('removal of its directory');
    await removeEmpty(directory);
    if (staged.isBlock) await removeEmpty(dirname(directory));
    known.unstage(volumeKey(staged.driver, staged.handle));
  }

  async #takeBack(use: Use, signal: AbortSignal): Promise<void> {
    const { drivers, calls } = this.#deps;
    const words = 'kubernetes.io/csi: Unmounter.TearDownAt failed to get CSI client: ';
    let driver: CsiDriver;
    try {
      driver = drivers.get(use.data.driverName);
    } catch (error) {
      throw new Error(`UnmountVolume.TearDown failed for volume "${use.name}" : ${words}${errorText(error)}`, { cause: error });
    }
    try {
      await this.#before('unpublish');
      await (await calls()).unpublish(use, driver, signal);
      await this.#forget(use);
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(`UnmountVolume.TearDown failed for volume "${use.name}" : ${errorText(error)}`, { cause: error });
    }
  }

  /** The driver has nothing of it for the pod any more. What says so goes last. */
  async #forget({ paths, isBlock, data }: Use): Promise<void> {
    await this.#before('removal of the target');
    await removeTarget(paths.target);
    if (isBlock) {
      await removeEmpty(dirname(paths.target));
      await removeTarget(paths.directory);
      // Another pod may have the device, and where it is staged the data are needed.
      const key = volumeKey(data.driverName, data.volumeHandle);
      if (this.#deps.known.staged(key) !== undefined || this.#deps.known.usesOf(key).length > 1) return;
    }
    await this.#before('removal of the record');
    await removeVolumeData(paths.data);
    await this.#before('removal of the directory');
    await removeEmpty(paths.data);
  }

  async #before(effect: string): Promise<void> {
    await this.#deps.before?.(effect);
  }
}

const kindOf = ({ data, task }: Use): StorageKind => ({
  plugin: csiPlugin(data.driverName),
  isMigrated: task !== undefined && 'persistent' in task.source && task.source.isMigrated === true,
});

/** It is the same volume, all has been done about it, and it is still mounted: not after the machine was started again. */
async function isWhole(found: Use, { driverName, volumeHandle }: VolumeData): Promise<boolean> {
  const { data, paths, isBlock } = found;
  if (data.driverName !== driverName || data.volumeHandle !== volumeHandle) {
    throw new MountStepError('SetUp', `another volume of the pod is still there: ${data.driverName} ${data.volumeHandle}`);
  }
  return !isBlock && data.complete === 'true' && (await isMounted(paths.target));
}

/** What says nothing of a volume, and has none, is in nobody's way. */
async function readOrRemove(directory: string): Promise<VolumeData | undefined> {
  try {
    return await readVolumeData(directory);
  } catch (error) {
    if (await isMounted(directory)) throw error;
    await removeVolumeData(directory);
    return undefined;
  }
}

const selinux = (context: string | undefined): Pick<VolumeData, 'selinuxMountContext'> =>
  context === undefined ? {} : { selinuxMountContext: context };
