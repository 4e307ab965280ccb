import type { NodeCondition, NodeStatus } from '../model/node.ts';
import { formatTime } from '../model/time.ts';
import type { EventReason } from '../ports/event-recorder.ts';

type Conditions = readonly NodeCondition[];

export interface ConditionChange {
  readonly conditions: Conditions;
  /** Why the node's status is said to be another one now. */
  readonly reason?: EventReason;
}

export type Pressure = 'memory' | 'disk' | 'pid';

interface PressureWords {
  readonly type: string;
  readonly under: { readonly reason: string; readonly message: string; readonly event: EventReason };
  readonly free: { readonly reason: string; readonly message: string; readonly event: EventReason };
}

/** pkg/kubelet/nodestatus/setters.go MemoryPressureCondition, DiskPressureCondition, PIDPressureCondition. */
const pressures: Readonly<Record<Pressure, PressureWords>> = {
  memory: {
    type: 'MemoryPressure',
    under: {
      reason: 'KubeletHasInsufficientMemory',
      message: 'kubelet has insufficient memory available',
      event: 'NodeHasInsufficientMemory',
    },
    free: { reason: 'KubeletHasSufficientMemory', message: 'kubelet has sufficient memory available', event: 'NodeHasSufficientMemory' },
  },
  disk: {
    type: 'DiskPressure',
    under: { reason: 'KubeletHasDiskPressure', message: 'kubelet has disk pressure', event: 'NodeHasDiskPressure' },
    free: { reason: 'KubeletHasNoDiskPressure', message: 'kubelet has no disk pressure', event: 'NodeHasNoDiskPressure' },
  },
  pid: {
    type: 'PIDPressure',
    under: { reason: 'KubeletHasInsufficientPID', message: 'kubelet has insufficient PID available', event: 'NodeHasInsufficientPID' },
    free: { reason: 'KubeletHasSufficientPID', message: 'kubelet has sufficient PID available', event: 'NodeHasSufficientPID' },
  },
};

/** The condition of one kind of pressure brought up to now; reason and message change only with its status. */
export function setPressureCondition(conditions: Conditions, pressure: Pressure, underPressure: boolean, nowMs: number): ConditionChange {
  const { type, under, free } = pressures[pressure];
  const { reason, message, event } = underPressure ? under : free;
  const status = underPressure ? 'True' : 'False';
  const now = formatTime(nowMs);
  const old = conditions.findLast((condition) => condition.type === type);
  if (old?.status === status) return { conditions: conditions.map((c) => (c === old ? { ...old, lastHeartbeatTime: now } : c)) };
  const changed = { ...old, type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime: now };
  return { conditions: old ? conditions.map((c) => (c === old ? changed : c)) : [...conditions, changed], reason: event };
}

/** Why the node cannot run pods, by who says so; nothing means that it can. */
export interface NodeErrors {
  readonly runtime?: readonly string[];
  readonly network?: readonly string[];
  readonly storage?: readonly string[];
  readonly shutdown?: readonly string[];
}

export interface Readiness {
  readonly errors: NodeErrors;
  readonly appArmorEnabled?: boolean;
  /** What the machine lacks without keeping pods from running. */
  readonly softRequirements?: string;
}

const requiredCapacities = ['cpu', 'memory', 'pods', 'ephemeral-storage'];

/** The Ready condition, to be set after the capacity and the other conditions (pkg/kubelet/nodestatus/setters.go ReadyCondition). */
export function setReadyCondition(
  status: NodeStatus,
  { errors, appArmorEnabled, softRequirements }: Readiness,
  nowMs: number,
): ConditionChange {
  const missing = requiredCapacities.filter((resource) => status.capacity?.[resource] === undefined);
  const { runtime = [], network = [], storage = [], shutdown = [] } = errors;
  const faults = [...runtime, ...network, ...storage, ...shutdown];
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
