import type { Pod, PodStatus } from '../model/pod.ts';
import { createTwoWayMergePatch, isJsonObject, type JsonObject } from '../model/strategic-merge-patch.ts';
import { mergePodStatus } from './merge-pod-status.ts';
import { normalizePodStatus } from './normalize-pod-status.ts';
import { samePodStatus } from './same-pod-status.ts';

export interface StatusPatch {
  /** For the status subresource; its metadata.uid lets it fail on another pod of the same name. Undefined: nothing to send. */
  readonly patch: JsonObject | undefined;
  /** The API says the same already, as far as it is for the kubelet to say: at most times of transition differ. */
  readonly same: boolean;
}

/** The smallest patch that makes the API's object show our status (PatchPodStatus in pkg/util/pod). */
export function statusPatch(object: Pod, ours: PodStatus): StatusPatch {
  const { uid } = object.metadata;
  const api: PodStatus = withoutNulls(object.status ?? {});
  const merged = mergePodStatus(api, ours);
  const patch = createTwoWayMergePatch({ status: api }, { metadata: { uid }, status: merged }, 'Pod');
  return { patch: 'status' in patch ? patch : undefined, same: samePodStatus(normalizePodStatus(object, api), merged) };
}

/** Whether the API's object has our conditions, as far as they are for the kubelet to say. */
export function sameConditions({ status = {} }: Pod, { conditions = [] }: PodStatus): boolean {
  return samePodStatus({ conditions: status.conditions ?? [] }, { conditions });
}

/** The API server writes out times that nobody set as null. */
function withoutNulls<T>(value: T): T {
  return strip(value) as T;
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, field]) => field !== undefined && field !== null);
  return Object.fromEntries(kept.map(([name, field]) => [name, strip(field)]));
}
