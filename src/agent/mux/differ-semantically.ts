import { isDeepStrictEqual } from 'node:util';
import { LOCAL_ANNOTATIONS } from '../../model/config-annotations.ts';
import type { Pod } from '../../model/pod.ts';

type Annotations = Readonly<Record<string, string>>;

/** Whether two versions of a pod ask for different things. Status and local annotations do not count (pkg/kubelet/config podsDifferSemantically). */
export function differSemantically(before: Pod, after: Pod): boolean {
  const { metadata: a } = before;
  const { metadata: b } = after;
  return !(
    a.deletionTimestamp === b.deletionTimestamp &&
    a.deletionGracePeriodSeconds === b.deletionGracePeriodSeconds &&
    isDeepStrictEqual(a.labels, b.labels) &&
    isDeepStrictEqual(foreign(a.annotations), foreign(b.annotations)) &&
    isDeepStrictEqual(before.spec, after.spec)
  );
}

function foreign(annotations: Annotations = {}): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !LOCAL_ANNOTATIONS.includes(key)));
}
