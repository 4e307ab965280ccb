import type { V1CSINode } from '@kubernetes/client-node';
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '../base/json-object.ts';
import type { Node } from '../model/node.ts';
import type { Wire } from '../model/wire.ts';
import type { CsiNodeInfo } from './csi-driver.ts';

export type CsiNode = Wire<V1CSINode>;
type DriverOfNode = CsiNode['spec']['drivers'][number];

/** A driver, as the node's objects show it. */
export interface DriverToShow {
  readonly name: string;
  readonly info: CsiNodeInfo;
}

/** Plugins in the tree whose volumes the drivers that replaced them take; the scheduler and the attacher look there (pkg/volume/csimigration). */
const MIGRATED = [
  'kubernetes.io/aws-ebs',
  'kubernetes.io/azure-disk',
  'kubernetes.io/azure-file',
  'kubernetes.io/cinder',
  'kubernetes.io/gce-pd',
  'kubernetes.io/portworx-volume',
  'kubernetes.io/vsphere-volume',
].join(',');
const MIGRATED_PLUGINS = 'storage.alpha.kubernetes.io/migrated-plugins';
const NODE_IDS = 'csi.volume.kubernetes.io/nodeid';

/** Drivers that have registered, and the names of those that have gone since the agent began. Others may only be about to register again. */
export interface ShownDrivers {
  readonly here: readonly DriverToShow[];
  readonly gone: readonly string[];
}

/** The CSINode of a node with these drivers (pkg/volume/csi/nodeinfomanager); undefined: it is so already. `of`: the Node, which owns it. */
export function csiNodeWith(before: CsiNode | undefined, of: Node, { here, gone }: ShownDrivers): CsiNode | undefined {
  const name = of.metadata?.name ?? '';
  const metadata = {
    ...before?.metadata,
    name,
    annotations: { ...before?.metadata?.annotations, [MIGRATED_PLUGINS]: MIGRATED },
    ownerReferences: before?.metadata?.ownerReferences ?? [{ apiVersion: 'v1', kind: 'Node', name, uid: of.metadata?.uid ?? '' }],
  };
  const names = new Set([...gone, ...here.map(({ name: driver }) => driver)]);
  const shown = [
    ...(before?.spec.drivers ?? []).filter(({ name: driver }) => !names.has(driver)),
    ...here.map(({ name: driver, info }) => ({
      name: driver,
      nodeID: info.nodeId,
      topologyKeys: Object.keys(info.topology).toSorted(),
      ...(info.maxVolumes > 0 && { allocatable: { count: info.maxVolumes } }),
    })),
  ];
  const isSame =
    before !== undefined &&
    before.metadata?.annotations?.[MIGRATED_PLUGINS] === MIGRATED &&
    isDeepStrictEqual(inOrder(before.spec.drivers ?? []), inOrder(shown));
  return isSame ? undefined : { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata, spec: { drivers: shown } };
}

/** Go has no absent: a list that is not there is an empty one. */
const inOrder = (drivers: readonly DriverOfNode[]): readonly unknown[] =>
  drivers
    .map(({ name, nodeID, topologyKeys, allocatable }) => ({ name, nodeID, topologyKeys: topologyKeys ?? [], count: allocatable?.count }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));

/** What to change of the Node: an annotation of the ids that drivers have for it, and their topology as labels. */
export interface NodeChange {
  /** A merge patch; undefined: there is nothing to change. */
  readonly patch: JsonObject | undefined;
  /** Drivers whose topology says otherwise than the Node's labels, or than another driver's: those labels stay as they are. */
  readonly faults: readonly string[];
}

export function nodeChange({ metadata }: Node, { here, gone }: ShownDrivers): NodeChange {
  const before = idsIn(metadata?.annotations?.[NODE_IDS]);
  const ids: Record<string, unknown> = { ...before };
  for (const name of gone) delete ids[name];
  for (const { name, info } of here) ids[name] = info.nodeId;
  const faults: string[] = [];
  const labels: Record<string, string> = {};
  for (const { name, info } of here) {
    for (const [key, value] of Object.entries(info.topology)) {
      const other = metadata?.labels?.[key] ?? labels[key];
      if (other === undefined) labels[key] = value;
      else if (other !== value) faults.push(collision(name, key, value, other));
    }
  }
  const isNone = Object.keys(ids).length === 0;
  const isNewAnnotation = isNone ? metadata?.annotations?.[NODE_IDS] !== undefined : !isDeepStrictEqual(before, ids);
  const patch = {
    ...(isNewAnnotation && { annotations: { [NODE_IDS]: isNone ? null : JSON.stringify(ids) } }),
    ...(Object.keys(labels).length > 0 && { labels }),
  };
  return { patch: Object.keys(patch).length > 0 ? { metadata: patch } : undefined, faults };
}

const collision = (driver: string, key: string, value: string, other: string): string =>
  `${driver}: detected topology value collision: driver reported "${key}":"${value}" but existing label is "${key}":"${other}"`;

/** What cannot be read is written again. */
function idsIn(annotation: string | undefined): JsonObject | undefined {
  if (annotation === undefined) return undefined;
  try {
    const ids: unknown = JSON.parse(annotation);
    return isJsonObject(ids) ? { ...ids } : undefined;
  } catch {
    return undefined;
  }
}
