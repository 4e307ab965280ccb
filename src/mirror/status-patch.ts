import { isJsonObject, type JsonObject } from '../base/json-object.ts';
import type { ContainerStatus, Pod, PodStatus } from '../model/pod.ts';
import { createTwoWayMergePatch } from '../model/strategic-merge-patch.ts';
import { mergePodStatus } from './merge-pod-status.ts';
import { normalizePodStatus } from '../model/normalize-pod-status.ts';
import { samePodStatus } from '../model/same-pod-status.ts';

export interface StatusPatch {
  /** For the status subresource; its metadata.uid lets it fail on another pod of the same name. Undefined: nothing to send. */
  readonly patch: JsonObject | undefined;
  /** The API says the same already, as far as it is for the kubelet to say: at most times of transition differ. */
  readonly same: boolean;
}

/** The smallest patch that makes the API's object show our status (PatchPodStatus in pkg/util/pod). */
export function statusPatch(object: Pod, status: PodStatus): StatusPatch {
  const { uid, generation } = object.metadata;
  const ours = generation === undefined ? withoutNewerContainerFields(status) : status;
  const api: PodStatus = withoutNulls(object.status ?? {});
  const merged = mergePodStatus(api, ours);
  const patch = createTwoWayMergePatch({ status: api }, { metadata: { uid }, status: merged }, 'Pod');
  // An API server that does not know them drops them each time: they go along with news, and are none.
  const unknown = api.startTime === undefined ? [] : newerFields.filter((field) => api[field] === undefined);
  const known = (key: string): boolean => !unknown.some((field) => key === field || key === `$setElementOrder/${field}`);
  const hasNews = isJsonObject(patch['status']) && Object.keys(patch['status']).some(known);
  const comparable: PodStatus = Object.fromEntries(Object.entries(merged).filter(([key]) => known(key)));
  return { patch: hasNews ? patch : undefined, same: samePodStatus(normalizePodStatus(object, api), comparable) };
}

/** Fields of a pod's status that came after 1.20. */
const newerFields = ['hostIPs', 'observedGeneration'] as const;

/** Without what containers' statuses have since 1.31 to 1.33: an API server that gives pods no generation yet drops it each time. */
function withoutNewerContainerFields(status: PodStatus): PodStatus {
  const older = (statuses: readonly ContainerStatus[]): readonly ContainerStatus[] =>
    statuses.map(({ user: _user, volumeMounts: _mounts, stopSignal: _signal, ...known }) => known);
  const { containerStatuses, initContainerStatuses, ephemeralContainerStatuses } = status;
  return {
    ...status,
    ...(containerStatuses && { containerStatuses: older(containerStatuses) }),
    ...(initContainerStatuses && { initContainerStatuses: older(initContainerStatuses) }),
    ...(ephemeralContainerStatuses && { ephemeralContainerStatuses: older(ephemeralContainerStatuses) }),
  };
}

/** Whether the API's object has our conditions, as far as they are for the kubelet to say. */
export function sameConditions({ status = {} }: Pod, { conditions = [] }: PodStatus): boolean {
  return samePodStatus({ conditions: status.conditions ?? [] }, { conditions });
}

/** The API server writes out unset times as null. */
function withoutNulls<T>(value: T): T {
  return strip(value) as T;
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, field]) => field !== undefined && field !== null);
  return Object.fromEntries(kept.map(([name, field]) => [name, strip(field)]));
}
