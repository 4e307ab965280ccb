import type { ObjectReference } from './object-reference.ts';
import { formatTime } from './time.ts';

/** v1.Event, as this agent sends it. Times are RFC 3339 in whole seconds. */
export interface KubeEvent {
  readonly apiVersion: 'v1';
  readonly kind: 'Event';
  readonly metadata: { readonly name: string; readonly namespace: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly involvedObject: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly source: EventSource;
  /** The source again, where newer clients look for it. */
  readonly reportingComponent: string;
  readonly reportingInstance: string;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly count: number;
}

export interface EventSource {
  /** "kubelet" */
  readonly component: string;
  /** The node's name. */
  readonly host: string;
}

export interface EventFacts extends Pick<KubeEvent, 'involvedObject' | 'type' | 'reason' | 'message' | 'source'> {
  readonly name: string;
  /** A date. */
  readonly atMs: number;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** An event that has happened once. Those about what has no namespace, like nodes, stand in the default one. */
export function kubeEvent({ name, atMs, annotations, involvedObject, source, ...what }: EventFacts): KubeEvent {
  const now = formatTime(atMs);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: involvedObject.namespace || 'default', ...(annotations && { annotations }) },
    involvedObject,
    ...what,
    source,
    reportingComponent: source.component,
    reportingInstance: source.host,
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  };
}

/** What a kubelet's events come from. */
export const eventSource = (nodeName: string): EventSource => ({ component: 'kubelet', host: nodeName });
