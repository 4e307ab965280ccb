import { isDeepStrictEqual } from 'node:util';
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
  return isDeepStrictEqual(withoutEmpty({ ...old, conditions: [] }), withoutEmpty({ ...now, conditions: [] }));
}

const own = ({ conditions = [] }: PodStatus): readonly PodCondition[] => conditions.filter(isKubeletCondition);

function sameCondition(old: PodCondition | undefined, { status, reason = '', message = '' }: PodCondition): boolean {
  return old !== undefined && old.status === status && (old.reason ?? '') === reason && (old.message ?? '') === message;
}

/** Absent, null and empty lists are the same. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(([, one]) => one !== undefined && one !== null && !(Array.isArray(one) && one.length === 0));
  return Object.fromEntries(kept.map(([key, one]) => [key, withoutEmpty(one)]));
}
