import type { ManifestObject } from '../../model/manifest-object.ts';
import type { PlannedObject } from '../../model/planned-changes.ts';
import { podReferences, referenceKey } from '../../model/pod-references.ts';
import type { Pod } from '../../model/pod.ts';
import { changedFields } from '../../model/changed-fields.ts';
import { allContainers } from '../../model/pod-predicates.ts';

/** What the two versions of an object mean to the pods, by the name that each is shown by; undefined: they are the same. */
export function plannedObject(
  before: ManifestObject | undefined,
  after: ManifestObject | undefined,
  pods: ReadonlyMap<string, Pod>,
): Omit<PlannedObject, 'file'> | undefined {
  const one = after ?? before;
  if (!one) return undefined;
  const keys = changedFields({ ...before?.data, ...before?.binaryData }, { ...after?.data, ...after?.binaryData });
  if (before && after && keys.length === 0 && before.type === after.type && before.immutable === after.immutable) return undefined;
  const object = referenceKey({ kind: one.kind, namespace: one.metadata.namespace, name: one.metadata.name });
  const users = [...pods].filter(([, pod]) => podReferences(pod).some((reference) => referenceKey(reference) === object));
  return {
    object,
    consequence: before ? (after ? 'changed' : 'removed') : 'added',
    keys,
    live: users.filter(([, pod]) => seesLive(pod, one)).map(([name]) => name),
    atNextStart: users.filter(([, pod]) => !seesLive(pod, one)).map(([name]) => name),
  };
}

/** In a volume that a container mounts as a whole: what is mounted at a subPath stays what it was. */
function seesLive({ spec }: Pod, { kind, metadata: { name } }: ManifestObject): boolean {
  const isIt = (each: { configMap?: { name?: string }; secret?: { name?: string; secretName?: string } }): boolean =>
    kind === 'ConfigMap' ? each.configMap?.name === name : (each.secret?.secretName ?? each.secret?.name) === name;
  const volumes = new Set(
    (spec.volumes ?? []).filter((volume) => isIt(volume) || (volume.projected?.sources ?? []).some(isIt)).map((volume) => volume.name),
  );
  return allContainers(spec).some(({ volumeMounts = [] }) =>
    volumeMounts.some((mount) => volumes.has(mount.name) && !mount.subPath && !mount.subPathExpr),
  );
}
