import { hash } from 'node:crypto';
import { CONFIG_HASH_ANNOTATION } from '../model/config-annotations.ts';
import type { Pod, PodUid, RawPod } from '../model/pod.ts';
import type { Toleration } from '../model/tolerations.ts';
import { withToleration } from '../model/with-toleration.ts';

/** Where a static pod comes from. */
export interface StaticPodOrigin {
  readonly source: 'file' | 'http';
  readonly nodeName: string;
}

/**
 * A defaulted manifest as a pod of this node: what the kubelet's applyDefaults does (pkg/kubelet/config/common.go). `asWritten` is the
 * decoder's and counts for the uid. The annotations config.source and config.seen come later, from the mux.
 */
export function staticPod(manifest: RawPod, asWritten: readonly string[], { source, nodeName }: StaticPodOrigin): Pod {
  const { metadata = {}, spec = { containers: [] } } = manifest;
  const uid = orElse(metadata.uid, generateUid(manifest, asWritten)) as PodUid;
  const name = `${metadata.name ?? ''}-${nodeName.toLowerCase()}`;
  const namespace = orElse(metadata.namespace, 'default');
  return {
    ...manifest,
    metadata: {
      ...metadata,
      uid,
      name,
      namespace,
      selfLink: `/api/v1/namespaces/${namespace}/pods/${name}`,
      annotations: { ...metadata.annotations, [CONFIG_HASH_ANNOTATION]: uid },
    },
    spec:
      source === 'file'
        ? { ...spec, nodeName, tolerations: withToleration(spec.tolerations ?? [], toleratesNodeProblems) }
        : { ...spec, nodeName },
    status: { ...manifest.status, phase: 'Pending' },
  };
}

const orElse = (text: string | undefined, fallback: string): string => (text === undefined || text === '' ? fallback : text);

/**
 * 32 hexadecimal digits that stay as long as the manifest means the same. As in 1.20, neither file nor node count: a manifest that is
 * moved to another file keeps its pod running. (Its hash covers Go's memory layout and cannot be had here.)
 */
function generateUid(manifest: RawPod, asWritten: readonly string[]): string {
  return hash('md5', JSON.stringify([withSortedKeys(manifest), asWritten.toSorted()]));
}

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, withSortedKeys(inner)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Pods of files are not evicted when the node has problems; those of a URL are. */
const toleratesNodeProblems: Toleration = { operator: 'Exists', effect: 'NoExecute' };
