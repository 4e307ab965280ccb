import type { V1DownwardAPIVolumeFile } from '@kubernetes/client-node';
import { containerResourceByName } from '../model/container-resource.ts';
import { extractFieldPath } from '../model/field-path.ts';
import type { Pod } from '../model/pod.ts';
import type { Wire } from '../model/wire.ts';
import { DEFAULT_MODE, type PayloadFacts, type PayloadFile, throwAll } from './payload.ts';

export interface DownwardApiSource {
  readonly items?: readonly Wire<V1DownwardAPIVolumeFile>[];
  readonly defaultMode?: number;
}

/** Fields of the pod and resources of its containers as files (pkg/volume/downwardapi CollectData). */
export async function downwardApiPayload(
  { items = [], defaultMode = DEFAULT_MODE }: DownwardApiSource,
  pod: Pod,
  { allocatable }: Pick<PayloadFacts, 'allocatable'>,
): Promise<readonly PayloadFile[]> {
  const errors: unknown[] = [];
  const files = items.flatMap(({ path, mode, fieldRef, resourceFieldRef }): readonly PayloadFile[] => {
    try {
      const text = fieldRef
        ? extractFieldPath(pod, fieldRef.fieldPath)
        : resourceFieldRef
          ? containerResourceByName(resourceFieldRef, pod, resourceFieldRef.containerName ?? '', allocatable())
          : '';
      return [{ path, data: Buffer.from(text), mode: mode ?? defaultMode }];
    } catch (error) {
      errors.push(error);
      return [];
    }
  });
  throwAll(errors);
  return files;
}
