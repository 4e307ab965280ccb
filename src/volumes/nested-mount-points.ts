import { mkdir } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import type { Container, Pod } from '../model/pod.ts';

/**
 * Makes the directories in a volume at which containers mount others: once the volume is mounted to be read only, none can be made (pkg/volume/util
 * MakeNestedMountpoints). The volume's name is its directory's.
 */
export async function makeNestedMountPoints(directory: string, { spec }: Pod): Promise<void> {
  const containers: readonly Container[] = [...(spec.initContainers ?? []), ...spec.containers];
  const nested = new Set(containers.flatMap((container) => nestedIn(basename(directory), container)));
  for (const path of nested) await mkdir(join(directory, path), { recursive: true, mode: 0o755 });
}

function nestedIn(volume: string, { volumeMounts = [] }: Container): readonly string[] {
  const whole = volumeMounts.filter(({ name, subPath, subPathExpr }) => name === volume && !subPath && !subPathExpr);
  return whole.flatMap(({ mountPath }) =>
    volumeMounts
      .map((other) => posix.relative(posix.resolve('/', mountPath), posix.resolve('/', other.mountPath)))
      .filter((path) => path !== '' && !path.startsWith('..')),
  );
}
