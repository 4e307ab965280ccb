import { errorText } from '../base/error-text.ts';
import { type MountStep, MountStepError } from '../model/mount-step-error.ts';
import type { VolumeUse } from './resolve-volume.ts';

/** What a pod is told of a volume that it cannot have. */
export interface MountFault {
  readonly reason: 'FailedMount' | 'FailedMapVolume';
  readonly message: string;
}

/** The steps of a device, which has others (GenerateMapVolumeFunc in pkg/volume/util/operationexecutor). */
const ofDevice: Readonly<Record<MountStep, string>> = {
  CanMount: 'SetUpDevice failed',
  'NodeAffinity check': 'NodeAffinity check failed',
  'MountOptionSupport check': 'SetUpDevice failed',
  WaitForAttach: 'WaitForAttach failed',
  MountDevice: 'SetUpDevice failed',
  SetUp: 'MapPodDevice failed',
  NodeExpandVolume: 'MarkVolumeAsMounted failed while expanding volume',
};

/** In the words of the kubelet's events; `name` is the volume's own. What says no step has failed in the last one. */
export function mountFault(use: VolumeUse, name: string, error: unknown): MountFault {
  const step = error instanceof MountStepError ? error.step : 'SetUp';
  const operation = use === 'device' ? `MapVolume.${ofDevice[step]}` : `MountVolume.${step} failed`;
  // A node that is the wrong one is told of alike.
  const reason = use === 'device' && step !== 'NodeAffinity check' ? 'FailedMapVolume' : 'FailedMount';
  return { reason, message: `${operation} for volume "${name}" : ${errorText(error)}` };
}
