import { nearest } from '../base/nearest.ts';
import { foldCase } from '../model/go-text.ts';
import type { DecodeFaultType } from '../model/manifest-fault.ts';
import { describeNode, type DocumentNode } from './document.ts';

export interface KindFault {
  readonly type: DecodeFaultType;
  readonly at: number;
  readonly field: string;
  readonly detail: string;
}

/** What v1 has beside pods (k8s.io/api/core/v1 register.go, and what meta/v1 adds to every version). */
const otherKinds = new Set(
  `APIGroup APIGroupList APIResourceList APIVersions Binding ComponentStatus ComponentStatusList ConfigMap ConfigMapList CreateOptions DeleteOptions
  Endpoints EndpointsList EphemeralContainers Event EventList ExportOptions GetOptions LimitRange LimitRangeList List ListOptions Namespace
  NamespaceList Node NodeList NodeProxyOptions PatchOptions PersistentVolume PersistentVolumeClaim PersistentVolumeClaimList PersistentVolumeList
  PodAttachOptions PodExecOptions PodList PodLogOptions PodPortForwardOptions PodProxyOptions PodStatusResult PodTemplate PodTemplateList
  RangeAllocation ReplicationController ReplicationControllerList ResourceQuota ResourceQuotaList Secret SecretList SerializedReference Service
  ServiceAccount ServiceAccountList ServiceList ServiceProxyOptions Status UpdateOptions WatchEvent`.split(/\s+/),
);

export type ManifestKind = 'Pod' | 'PodList' | 'ConfigMap' | 'Secret' | 'List';

/** Which object a document holds, if it is one of `wanted`. Else why it is none, in the order in which Kubernetes looks. */
export function manifestKind(root: DocumentNode, wanted: readonly ManifestKind[]): ManifestKind | KindFault {
  if (root.is !== 'map' && root.is !== 'null') {
    return {
      type: 'json',
      at: root.at,
      field: '',
      detail: `expected a map with apiVersion, kind, metadata and spec, found ${describeNode(root)}`,
    };
  }
  const kind = member(root, 'kind');
  const apiVersion = member(root, 'apiVersion');
  for (const { field, wrong } of [apiVersion, kind]) {
    if (wrong !== undefined) return { type: 'json', at: wrong.at, field, detail: `expected a string, found ${describeNode(wrong)}` };
  }
  const parts = textOf(apiVersion).split('/');
  const [group = '', version = ''] = parts.length === 1 ? ['', parts[0]] : parts;
  if (parts.length > 2) {
    return {
      type: 'notRegistered',
      at: placeOf(apiVersion, root),
      field: 'apiVersion',
      detail: `expected v1, found ${JSON.stringify(textOf(apiVersion))}`,
    };
  }
  const name = textOf(kind);
  if (name === '') return { type: 'missingKind', at: placeOf(kind, root), field: 'kind', detail: missing(root, 'kind: Pod') };
  if (version === '')
    return { type: 'missingVersion', at: placeOf(apiVersion, root), field: 'apiVersion', detail: missing(root, 'apiVersion: v1') };
  if (group !== '' || version !== 'v1') {
    const detail = `expected kind ${either(wanted)} of v1, found ${name} of ${textOf(apiVersion)}`;
    return { type: 'notRegistered', at: placeOf(apiVersion, root), field: 'apiVersion', detail };
  }
  const known = wanted.find((each) => each === name);
  if (known !== undefined) return known;
  const at = placeOf(kind, root);
  if (otherKinds.has(name)) return { type: 'notAPod', at, field: 'kind', detail: `expected ${either(wanted)}, found ${name}` };
  const meant = nearest(name, wanted);
  const hint = meant === undefined ? '' : ` (did you mean "${meant}"?)`;
  return {
    type: 'notRegistered',
    at,
    field: 'kind',
    detail: `expected ${either(wanted)}, found ${JSON.stringify(name)}, which v1 does not have${hint}`,
  };
}

/** "Pod, ConfigMap or Secret" */
function either(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

interface Member {
  readonly field: string;
  readonly node: DocumentNode | undefined;
  /** One that is no string, wherever it stands. */
  readonly wrong: DocumentNode | undefined;
}

/** Kubernetes looks for these two with encoding/json, to which letter case is all one; the last of several counts. */
function member(root: DocumentNode, field: string): Member {
  const entries = root.is === 'map' ? [...root.entries] : [];
  const written = entries.flatMap(([key, { value }]) => (foldCase(key) === field.toLowerCase() && value.is !== 'null' ? [value] : []));
  return { field, node: written.at(-1), wrong: written.find(({ is }) => is !== 'string') };
}

const textOf = ({ node }: Member): string => (node?.is === 'string' ? node.value : '');
const placeOf = ({ node }: Member, root: DocumentNode): number => node?.at ?? root.at;
const missing = (root: DocumentNode, expected: string): string =>
  root.is === 'null' ? `expected ${expected}, found an empty document` : `expected ${expected}, found nothing`;
