import { formatManifestFault, type ManifestFault } from '../model/manifest-fault.ts';
import { type Pod, showPod } from '../model/pod.ts';
import type { Happenings, ManifestPod, ManifestRead } from '../ports/happenings.ts';
import type { StaticPodResult } from './read-static-pods.ts';

/** What sources report of manifests. */
export type ManifestNews = Pick<Happenings, 'manifestRead' | 'manifestGone' | 'manifestsCollided'>;

/** More are no help. */
const MOST_FAULTS = 20;
const FIRST = { line: 1, column: 1 };

/** What was read, for who explains pods. `kept`: pods that it declared before and that go on in place of what is refused. */
export function manifestRead(
  { source, where, keeps }: Pick<ManifestRead, 'source' | 'where' | 'keeps'>,
  results: readonly StaticPodResult[],
  faults: readonly ManifestFault[],
  kept: readonly Pod[],
): ManifestRead {
  const isNew = ({ metadata: { uid } }: Pod): boolean => !results.some(({ pod }) => pod?.metadata.uid === uid);
  const pods: ManifestPod[] = [
    ...results.map(({ key, pod, at }) => ({ pod: pod ? showPod(pod) : key, uid: pod?.metadata.uid, ...at })),
    ...kept.filter(isNew).map((pod) => ({ pod: showPod(pod), uid: pod.metadata.uid, ...FIRST })),
  ];
  const words = faults.slice(0, MOST_FAULTS).map((fault) => formatManifestFault(where, fault));
  const left = faults.length - words.length;
  return { source, where, keeps, pods, faults: left > 0 ? [...words, `and ${left} more`] : words };
}
