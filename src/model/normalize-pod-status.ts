import type { ContainerStateStatus, ContainerStatus, Pod, PodCondition, PodStatus } from './pod.ts';
import { formatTime, parseTime } from './time.ts';

/** pkg/kubelet/container: all termination messages of a pod together, in bytes. */
const maxTerminationMessageBytes = 12 * 1024;

/** A status in the form in which statuses are compared and kept: whole seconds, bounded messages, fixed orders (normalizeStatus in pkg/kubelet/status). */
export function normalizePodStatus(pod: Pod, status: PodStatus): PodStatus {
  const { containers, initContainers = [], ephemeralContainers = [] } = pod.spec;
  const total = containers.length + initContainers.length + ephemeralContainers.length;
  const maxBytes = total > 0 ? Math.floor(maxTerminationMessageBytes / total) : maxTerminationMessageBytes;
  const each = (statuses: readonly ContainerStatus[]): readonly ContainerStatus[] =>
    statuses.map((one) => normalizeContainer(one, maxBytes));
  const initOrder = new Map(initContainers.map(({ name }, index) => [name, index]));
  const rank = ({ name }: ContainerStatus): number => initOrder.get(name) ?? initOrder.size;
  return {
    ...status,
    ...seconds(status, ['startTime']),
    ...(status.conditions ? { conditions: status.conditions.map(normalizeCondition) } : {}),
    ...(status.containerStatuses ? { containerStatuses: each(status.containerStatuses).toSorted(byName) } : {}),
    ...(status.ephemeralContainerStatuses ? { ephemeralContainerStatuses: each(status.ephemeralContainerStatuses).toSorted(byName) } : {}),
    ...(status.initContainerStatuses
      ? { initContainerStatuses: [...each(status.initContainerStatuses)].sort((a, b) => rank(a) - rank(b)) }
      : {}),
  };
}

function byName(a: ContainerStatus, b: ContainerStatus): number {
  return a.name < b.name ? -1 : 1;
}

function normalizeCondition(condition: PodCondition): PodCondition {
  return { ...condition, ...seconds(condition, ['lastProbeTime', 'lastTransitionTime']) };
}

function normalizeContainer(status: ContainerStatus, maxBytes: number): ContainerStatus {
  return {
    ...status,
    ...(status.state ? { state: normalizeState(status.state, maxBytes) } : {}),
    ...(status.lastState ? { lastState: normalizeState(status.lastState, maxBytes) } : {}),
  };
}

function normalizeState({ running, terminated, ...rest }: ContainerStateStatus, maxBytes: number): ContainerStateStatus {
  return {
    ...rest,
    ...(running ? { running: { ...running, ...seconds(running, ['startedAt']) } } : {}),
    ...(terminated
      ? {
          terminated: {
            ...terminated,
            ...seconds(terminated, ['startedAt', 'finishedAt']),
            ...(terminated.message === undefined ? {} : { message: firstBytes(terminated.message, maxBytes) }),
          },
        }
      : {}),
  };
}

const wholeSeconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Those of the given fields that hold a time, without fractions of a second. */
function seconds<K extends string>(holder: { readonly [_ in K]?: string }, fields: readonly K[]): { readonly [_ in K]?: string } {
  const found: { [_ in K]?: string } = {};
  for (const field of fields) {
    const text = holder[field];
    // Nearly all are without, and need not be read.
    if (text === undefined || wholeSeconds.test(text)) continue;
    const atMs = parseTime(text);
    if (atMs !== undefined) found[field] = formatTime(atMs);
  }
  return found;
}

/** Never ends within a character. */
function firstBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
