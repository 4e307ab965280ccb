import { holdsState, writeAtomically } from './atomic-writer.ts';
import { makeNestedMountPoints } from './nested-mount-points.ts';
import type { PayloadOf } from './payload.ts';
import { makeVolumeDirectory } from './volume-directory.ts';
import { type KindName, type KindOf, type VolumeSource, volumeKind } from './volume-kind.ts';

/** A kind whose files are made of API data, again with each look at the pod: containers only read them, and see all of a change or nothing. */
export function payloadVolume<K extends KindName>(
  name: K,
  payloadOf: PayloadOf<NonNullable<VolumeSource[K]>>,
  { plugin, inMemory }: { readonly plugin: string; readonly inMemory: boolean },
): KindOf {
  return volumeKind(name, {
    plugin,
    changes: true,
    setUp: async (source, { pod, directory, facts, mounts, nowMs }, signal) => {
      const files = await payloadOf(source, pod, facts, signal);
      const fsGroup = pod.spec.securityContext?.fsGroup;
      await makeVolumeDirectory(directory, fsGroup);
      // Not over what containers see already.
      if (inMemory && !(await holdsState(directory))) await mounts.tmpfs(directory, { sizeBytes: undefined, fsGroup });
      await makeNestedMountPoints(directory, pod);
      await writeAtomically(directory, files, { nowMs, fsGroup });
      return { hostPath: directory, readOnly: true, isOwn: true };
    },
  });
}
