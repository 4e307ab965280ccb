import type { NodeStatus } from '../model/node.ts';

/** One of the fields that API servers before Kubernetes 1.36 may not know. */
export interface YoungField {
  read(status: NodeStatus): unknown;
  without(status: NodeStatus): NodeStatus;
}

const youngFields: readonly YoungField[] = [
  ...(['runtimeHandlers', 'features', 'declaredFeatures'] as const).map((name): YoungField => ({
    read: (status) => status[name],
    without: (status) => omit(status, name),
  })),
  {
    read: ({ nodeInfo }) => nodeInfo?.swap,
    without: (status) => (status.nodeInfo === undefined ? status : { ...status, nodeInfo: omit(status.nodeInfo, 'swap') }),
  },
];

function omit<T extends object, K extends keyof T>(object: T, name: K): Omit<T, K> {
  const { [name]: _, ...rest } = object;
  return rest;
}

/** What the API server has left out of a status that it was sent, as it does with fields that it does not know. */
export function droppedFields(sent: NodeStatus, answered: NodeStatus): readonly YoungField[] {
  return youngFields.filter((field) => field.read(sent) !== undefined && field.read(answered) === undefined);
}

/** The status as an API server keeps it that drops these fields. */
export function withoutDropped(status: NodeStatus, dropped: readonly YoungField[]): NodeStatus {
  return dropped.reduce((rest, field) => field.without(rest), status);
}
