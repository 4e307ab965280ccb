import type { Pod } from '../model/pod.ts';
import type { PodStatuses } from '../ports/pod-statuses.ts';
import type { PodStore } from '../ports/pod-store.ts';

/** The names of all images that pods which have not ended may start containers of. A container of theirs may be about to be made. */
export function wantedImages(pods: Pick<PodStore, 'list'>, statuses: Pick<PodStatuses, 'get'>): ReadonlySet<string> {
  const wanted = new Set<string>();
  for (const { pod } of pods.list()) {
    const phase = statuses.get(pod.metadata.uid)?.phase;
    if (phase !== 'Succeeded' && phase !== 'Failed') for (const name of imagesOf(pod)) wanted.add(name);
  }
  return wanted;
}

function imagesOf({ spec }: Pod): readonly string[] {
  const containers = [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
  const names = [...containers.map(({ image }) => image), ...(spec.volumes ?? []).map(({ image }) => image?.reference)];
  return names.filter((name) => name !== undefined);
}
