import type { FilesystemLayout } from '../model/eviction/container-fs-thresholds.ts';
import { quote } from '../model/go-text.ts';
import { podLimits } from '../model/pod-resources.ts';
import type { Pod } from '../model/pod.ts';
import { Quantity } from '../model/quantity.ts';
import type { PodUsage } from '../ports/pod-stats.ts';

const resource = 'ephemeral-storage';

export interface ExceededLimit {
  /** As kubelet_evictions names it. */
  readonly signal: 'emptydirfs.limit' | 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit';
  readonly message: string;
}

/** Whether the pod is limited in what it leaves on the node's disks. */
export function hasLocalLimits(pod: Pod): boolean {
  return emptyDirLimits(pod).length > 0 || podLimits(pod).has(resource);
}

/** The first limit on local storage that the pod exceeds (localStorageEviction in pkg/kubelet/eviction): of an emptyDir, of the pod, of a container. */
export function exceededLimit(pod: Pod, usage: PodUsage, layout: FilesystemLayout): ExceededLimit | undefined {
  for (const { name, limit } of emptyDirLimits(pod)) {
    const used = usage.volumes.find((volume) => volume.name === name)?.usedBytes;
    if (used !== undefined && isAbove(used, limit))
      return {
        signal: 'emptydirfs.limit',
        message: `Usage of EmptyDir volume ${quote(name)} exceeds the limit ${quote(limit.canonical())}. `,
      };
  }
  const ofPod = podLimits(pod).get(resource);
  if (ofPod && isAbove(usage.ephemeralStorage?.usedBytes ?? 0, ofPod))
    return {
      signal: 'ephemeralpodfs.limit',
      message: `Pod ephemeral local storage usage exceeds the total limit of containers ${ofPod.canonical()}. `,
    };
  for (const { name, logs, rootfs } of usage.containers) {
    const text = pod.spec.containers.find((container) => container.name === name)?.resources?.limits?.[resource];
    const limit = text === undefined ? Quantity.zero : Quantity.fromJson(text);
    // Elsewhere than on nodefs what a container writes is not counted against it.
    const used = (logs?.usedBytes ?? 0) + (layout.imageFs ? 0 : (rootfs?.usedBytes ?? 0));
    if (!limit.isZero() && isAbove(used, limit))
      return {
        signal: 'ephemeralcontainerfs.limit',
        message: `Container ${name} exceeded its local ephemeral storage limit ${quote(limit.canonical())}. `,
      };
  }
  return undefined;
}

/** A number that is none is above nothing. */
const isAbove = (used: number, limit: Quantity): boolean =>
  Number.isFinite(used) && Quantity.of(Math.trunc(used), 'BinarySI').cmp(limit) > 0;

function emptyDirLimits({ spec }: Pod): readonly { readonly name: string; readonly limit: Quantity }[] {
  return (spec.volumes ?? []).flatMap(({ name, emptyDir }) => {
    if (emptyDir?.sizeLimit === undefined) return [];
    const limit = Quantity.fromJson(emptyDir.sizeLimit);
    return limit.sign() > 0 ? [{ name, limit }] : [];
  });
}
