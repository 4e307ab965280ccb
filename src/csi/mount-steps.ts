import { errorText } from '../base/error-text.ts';
import { type MountStep, MountStepError } from '../model/mount-step-error.ts';
import { CsiCallError } from './csi-call-error.ts';
import type { VolumePlan } from './volume-plan.ts';

/** The steps in which a volume is staged, or its driver found, and given to a pod. */
export const stepsOf = ({ isPersistent }: VolumePlan): { readonly device: MountStep; readonly pod: MountStep } => ({
  device: isPersistent ? 'MountDevice' : 'SetUp',
  pod: 'SetUp',
});

/** Before why a driver is not there. */
export function clientWords({ isPersistent, isBlock }: VolumePlan): string {
  if (isBlock) return 'blockMapper.SetUpDevice failed to get CSI client: ';
  return isPersistent ? 'attacher.MountDevice failed to create newCsiDriverClient: ' : 'mounter.SetUpAt failed to get CSI client: ';
}

/** Throws what `work` throws as a MountStepError. */
export function inStep<T>(step: MountStep, words: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new MountStepError(step, words + errorText(error), error);
  }
}

/** What a driver says is said without more words. */
export function stepError(step: MountStep, error: unknown, words = ''): unknown {
  if (error instanceof MountStepError) return error;
  return new MountStepError(step, error instanceof CsiCallError ? error.message : words + errorText(error), error);
}
