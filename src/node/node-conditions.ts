import { type Pressure, pressureCondition, pressureTypes } from '../model/node-pressure.ts';
import type { NodeCondition, NodeStatus } from '../model/node.ts';
import { formatTime } from '../model/time.ts';
import type { EventReason } from '../ports/event-recorder.ts';

type Conditions = readonly NodeCondition[];

export interface ConditionChange {
  readonly conditions: Conditions;
  /** Why the node's status is said to be another one now. */
  readonly reason?: EventReason | undefined;
}

/** A condition that a participant has an opinion of: its times are filled in. */
export type GivenCondition = Pick<NodeCondition, 'type' | 'status' | 'reason' | 'message'>;

const events: Readonly<Record<Pressure, { readonly under: EventReason; readonly free: EventReason }>> = {
  memory: { under: 'NodeHasInsufficientMemory', free: 'NodeHasSufficientMemory' },
  disk: { under: 'NodeHasDiskPressure', free: 'NodeHasNoDiskPressure' },
  pid: { under: 'NodeHasInsufficientPID', free: 'NodeHasSufficientPID' },
};
const pressures = Object.keys(events) as readonly Pressure[];

/** The condition of one kind of pressure brought up to now; reason and message change only with its status. */
export function setPressureCondition(conditions: Conditions, pressure: Pressure, underPressure: boolean, nowMs: number): ConditionChange {
  const { type, status, reason, message } = pressureCondition(pressure, underPressure);
  const event = events[pressure][underPressure ? 'under' : 'free'];
  const now = formatTime(nowMs);
  const old = conditions.findLast((condition) => condition.type === type);
  if (old?.status === status) return { conditions: conditions.map((c) => (c === old ? { ...old, lastHeartbeatTime: now } : c)) };
  const changed = { ...old, type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime: now };
  return { conditions: old ? conditions.map((c) => (c === old ? changed : c)) : [...conditions, changed], reason: event };
}

/** A condition brought up to now. One of the pressures is said in the kubelet's events when its status changes. */
export function setGivenCondition(conditions: Conditions, given: GivenCondition, nowMs: number): ConditionChange {
  const now = formatTime(nowMs);
  const old = conditions.findLast(({ type }) => type === given.type);
  const changed = old?.status !== given.status;
  const lastTransitionTime = changed ? now : (old?.lastTransitionTime ?? now);
  const condition: NodeCondition = { ...given, lastHeartbeatTime: now, lastTransitionTime };
  const pressure = pressures.find((each) => pressureTypes[each] === given.type);
  return {
    conditions: old ? conditions.map((each) => (each === old ? condition : each)) : [...conditions, condition],
    reason: changed && pressure ? events[pressure][given.status === 'True' ? 'under' : 'free'] : undefined,
  };
}

/** Why the node cannot run pods; nothing means that it can. */
export type NodeErrors = readonly string[];

export interface Readiness {
  readonly errors: NodeErrors;
  readonly appArmorEnabled?: boolean;
  /** What the machine lacks without keeping pods from running. */
  readonly softRequirements?: string;
  /** Whether the node must have ephemeral storage to tell of (localStorageCapacityIsolation); it must unless this says no. */
  readonly localStorage?: boolean;
}

/** The Ready condition, to be set after the capacity and the other conditions (pkg/kubelet/nodestatus/setters.go ReadyCondition). */
export function setReadyCondition(
  status: NodeStatus,
  { errors, appArmorEnabled, softRequirements, localStorage = true }: Readiness,
  nowMs: number,
): ConditionChange {
  const requiredCapacities = ['cpu', 'memory', 'pods', ...(localStorage ? ['ephemeral-storage'] : [])];
  const missing = requiredCapacities.filter((resource) => status.capacity?.[resource] === undefined);
  const faults = [...errors];
  if (missing.length > 0) faults.push(`missing node capacity for resources: ${missing.join(', ')}`);
  const ready = faults.length === 0;

  let message = ready ? 'kubelet is posting ready status' : aggregate(faults);
  if (ready && appArmorEnabled) message += '. AppArmor enabled';
  if (softRequirements !== undefined) message += `. WARNING: ${softRequirements}`;

  const conditions = status.conditions ?? [];
  const old = conditions.find(({ type }) => type === 'Ready');
  const now = formatTime(nowMs);
  const same = old?.status === (ready ? 'True' : 'False');
  const condition: NodeCondition = {
    type: 'Ready',
    status: ready ? 'True' : 'False',
    reason: ready ? 'KubeletReady' : 'KubeletNotReady',
    message,
    lastHeartbeatTime: now,
    ...(same ? old.lastTransitionTime !== undefined && { lastTransitionTime: old.lastTransitionTime } : { lastTransitionTime: now }),
  };
  if (!old) return { conditions: [...conditions, condition] };
  const replaced = conditions.map((c) => (c === old ? condition : c));
  return same ? { conditions: replaced } : { conditions: replaced, reason: ready ? 'NodeReady' : 'NodeNotReady' };
}

/** Each text once; several in brackets (apimachinery util/errors Aggregate). */
function aggregate(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return distinct.length === 1 ? distinct.join('') : `[${distinct.join(', ')}]`;
}
