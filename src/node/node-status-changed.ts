import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '../base/json-object.ts';
import type { Node, NodeStatus } from '../model/node.ts';
import { Quantity } from '../model/quantity.ts';
import { createTwoWayMergePatch } from '../model/strategic-merge-patch.ts';

/** Whether anything but heartbeats differs; quantities by amount, conditions in any order (pkg/kubelet/kubelet_node_status.go nodeStatusHasChanged). */
export function nodeStatusHasChanged(before: NodeStatus, after: NodeStatus): boolean {
  return !isDeepStrictEqual(comparable(before), comparable(after));
}

function comparable({ conditions = [], capacity, allocatable, ...rest }: NodeStatus): unknown {
  const amounts = (list: NodeStatus['capacity']): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(list ?? {}).map(([name, text]) => [name, amount(text)]));
  const sorted = conditions
    .map((condition) => ({ ...condition, lastHeartbeatTime: undefined }))
    .toSorted((a, b) => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0));
  return withoutZeros({ ...rest, conditions: sorted, capacity: amounts(capacity), allocatable: amounts(allocatable) });
}

/** The same text for the same amount, however it is written: a sum takes the notation of its first term. */
const amount = (text: string): string => Quantity.of(1).add(Quantity.fromJson(text)).canonical();

/** Go has no absent: an empty text, list or object, false and 0 are what a field is when it is not there. */
function withoutZeros(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => withoutZeros(item) ?? null);
  if (!isJsonObject(value)) return value === null || value === '' || value === 0 || value === false ? undefined : value;
  const fields = Object.entries(value)
    .map(([field, inner]) => [field, withoutZeros(inner)] as const)
    .filter(([, inner]) => inner !== undefined);
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

/** On any one clock. */
export interface ReportTimes {
  readonly nowMs: number;
  /** Undefined: nothing was sent yet. */
  readonly lastReportMs: number | undefined;
  readonly reportFrequencyMs: number;
}

/** Whether the status is sent even if nothing in it has changed. */
export const isReportDue = ({ nowMs, lastReportMs, reportFrequencyMs }: ReportTimes): boolean =>
  lastReportMs === undefined || nowMs >= lastReportMs + reportFrequencyMs;

/** The patch to send to the Node's status, which may be empty, or undefined when none is due (tryUpdateNodeStatus, PatchNodeStatus). */
export function nodeStatusPatch(before: Node, after: Node, times: ReportTimes): JsonObject | undefined {
  if (!isReportDue(times) && !nodeStatusHasChanged(before.status ?? {}, after.status ?? {})) return undefined;
  // A node's spec is not its status's business.
  return createTwoWayMergePatch({ ...before, spec: undefined }, { ...after, spec: undefined }, 'Node');
}
