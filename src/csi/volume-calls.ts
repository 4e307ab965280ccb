import type { MessageInitShape } from '@bufbuild/protobuf';
import { MountStepError } from '../model/mount-step-error.ts';
import type { Pod } from '../model/pod.ts';
import { Node, type VolumeCapabilitySchema } from './api/csi_pb.js';
import type { CsiDriver } from './csi-driver.ts';
import type { Use } from './known-volumes.ts';
import type { VolumeObjects } from './volume-objects.ts';
import { contextOption } from './selinux-context.ts';
import { accessModeOf } from './access-mode.ts';
import { type CsiDriverObject, groupGiver, podInfo, type VolumePlan } from './volume-plan.ts';

/** A volume that a driver is asked for. */
export interface VolumeOrder {
  readonly plan: VolumePlan;
  readonly pod: Pod;
  readonly driver: CsiDriver;
  readonly object: CsiDriverObject | undefined;
  /** What the driver is told of the attachment. */
  readonly publishContext: Readonly<Record<string, string>>;
  /** Empty: the driver does not stage. */
  readonly staging: string;
  readonly target: string;
  /** That of SELinux that all its files are to have; undefined: each has its own. */
  readonly context: string | undefined;
}

/** The calls of the Node service, made of what Kubernetes knows of a volume (pkg/volume/csi csi_client.go). */
export class VolumeCalls {
  readonly #objects: VolumeObjects;

  constructor(objects: VolumeObjects) {
    this.#objects = objects;
  }

  async stage(order: VolumeOrder, signal: AbortSignal): Promise<void> {
    const { plan, driver, publishContext, staging } = order;
    const request = {
      volumeId: plan.handle,
      publishContext,
      stagingTargetPath: staging,
      volumeCapability: capabilityOf(order),
      secrets: await this.#objects.secret(plan.stageSecret, signal),
      volumeContext: plan.attributes,
    };
    await driver.call(Node.method.nodeStageVolume, request, signal, plan);
  }

  async publish(order: VolumeOrder, signal: AbortSignal): Promise<void> {
    const { plan, pod, driver, object, publishContext, staging, target } = order;
    const tokens = await this.#objects.tokens(pod, object, signal);
    const request = {
      volumeId: plan.handle,
      publishContext,
      stagingTargetPath: staging,
      targetPath: target,
      volumeCapability: capabilityOf(order),
      readonly: plan.readOnly,
      secrets: { ...(await this.#objects.secret(plan.publishSecret, signal)), ...tokens.secrets },
      volumeContext: { ...plan.attributes, ...podInfo(pod, plan, object), ...tokens.attributes },
    };
    await driver.call(Node.method.nodePublishVolume, request, signal, plan);
  }

  /** Grows the file system, or lets the node see the device's new size. Undefined: the driver need not be asked. */
  async expand(order: VolumeOrder, bytes: bigint, signal: AbortSignal): Promise<void> {
    const { plan, driver, staging, target } = order;
    if (!driver.can('EXPAND_VOLUME')) return;
    const request = {
      volumeId: plan.handle,
      volumePath: target,
      stagingTargetPath: staging,
      capacityRange: { requiredBytes: bytes },
      volumeCapability: capabilityOf(order),
      secrets: await this.#objects.secret(plan.expandSecret, signal),
    };
    try {
      await driver.call(Node.method.nodeExpandVolume, request, signal, plan);
    } catch (error) {
      signal.throwIfAborted();
      throw new MountStepError('NodeExpandVolume', error instanceof Error ? error.message : String(error), error);
    }
  }

  async unpublish({ data, paths }: Use, driver: CsiDriver, signal: AbortSignal): Promise<void> {
    await driver.call(Node.method.nodeUnpublishVolume, { volumeId: data.volumeHandle, targetPath: paths.target }, signal);
  }

  async unstage(handle: string, staging: string, driver: CsiDriver, signal: AbortSignal): Promise<void> {
    await driver.call(Node.method.nodeUnstageVolume, { volumeId: handle, stagingTargetPath: staging }, signal);
  }
}

function capabilityOf({ plan, pod, driver, object, context }: VolumeOrder): MessageInitShape<typeof VolumeCapabilitySchema> {
  const accessMode = { mode: accessModeOf(plan.accessModes, driver) };
  if (plan.isBlock) return { accessMode, accessType: { case: 'block', value: {} } };
  const group = groupGiver(plan, pod, driver, object) === 'driver' ? pod.spec.securityContext?.fsGroup : undefined;
  const mount = {
    fsType: plan.fsType,
    mountFlags: [...plan.mountOptions, ...(context === undefined ? [] : [contextOption(context)])],
    ...(group !== undefined && { volumeMountGroup: String(group) }),
  };
  return { accessMode, accessType: { case: 'mount', value: mount } };
}
