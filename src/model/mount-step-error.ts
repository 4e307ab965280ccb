/** The steps by which the kubelet's events name what failed about a volume (pkg/volume/util/operationexecutor). */
export type MountStep =
  | 'CanMount'
  | 'NodeAffinity check'
  | 'MountOptionSupport check'
  | 'WaitForAttach'
  | 'MountDevice'
  | 'SetUp'
  | 'NodeExpandVolume';

/** A volume that cannot be made, with the step that fails. */
export class MountStepError extends Error {
  override readonly name = 'MountStepError';
  readonly step: MountStep;

  constructor(step: MountStep, message: string, cause?: unknown) {
    super(message, { cause });
    this.step = step;
  }
}
