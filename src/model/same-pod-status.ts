import { isJsonObject } from '../base/json-object.ts';
import type { PodCondition, PodStatus } from './pod.ts';
import { isKubeletCondition } from './pod-conditions.ts';

/**
 * Whether two normalized statuses say the same, as far as the kubelet has a say: other people's conditions and times of transition do not
 * count (isPodStatusByKubeletEqual in pkg/kubelet/status).
 */
export function samePodStatus(old: PodStatus, now: PodStatus): boolean {
  const ours = own(now);
  const before = new Map(own(old).map((condition) => [condition.type, condition]));
  if (before.size !== ours.length) return false;
  if (!ours.every((condition) => sameCondition(before.get(condition.type), condition))) return false;
  return same({ ...old, conditions: undefined }, { ...now, conditions: undefined });
}

const own = ({ conditions = [] }: PodStatus): readonly PodCondition[] => conditions.filter(isKubeletCondition);

function sameCondition(old: PodCondition | undefined, { status, reason = '', message = '' }: PodCondition): boolean {
  return old !== undefined && old.status === status && (old.reason ?? '') === reason && (old.message ?? '') === message;
}

/** Whether two JSON values are; absent, null and empty lists are. Compared as they stand: it is done for each look at each pod. */
function same(one: unknown, other: unknown): boolean {
  if (one === other || (isNothing(one) && isNothing(other))) return true;
  if (Array.isArray(one) || Array.isArray(other)) {
    return Array.isArray(one) && Array.isArray(other) && one.length === other.length && one.every((each, i) => same(each, other[i]));
  }
  if (!isJsonObject(one) || !isJsonObject(other)) return false;
  return (
    Object.keys(one).every((key) => same(one[key], other[key])) &&
    Object.keys(other).every((key) => Object.hasOwn(one, key) || isNothing(other[key]))
  );
}

const isNothing = (value: unknown): boolean => value === undefined || value === null || (Array.isArray(value) && value.length === 0);
