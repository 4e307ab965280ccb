import type { ObjectReference } from '../../model/object-reference.ts';

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

const SEPARATOR = '\0';

/** The same for events that differ in nothing but their time: they become one event with a count. */
export function eventKey(event: KubeEvent): string {
  return [spamKey(event), event.involvedObject.fieldPath, event.type, event.reason, event.message].join(SEPARATOR);
}

/** The same for events of one source about one object. */
export function spamKey({ source, involvedObject: object }: KubeEvent): string {
  return [source.component, source.host, object.kind, object.namespace, object.name, object.uid, object.apiVersion].join(SEPARATOR);
}

/** Whether one of these keys is of an event about the object of this uid. */
export function isAbout(key: string, uid: string): boolean {
  return key.includes(`${SEPARATOR}${uid}${SEPARATOR}`);
}

/** The same for events that differ in their message alone, be it about several containers of a pod: too many are combined. */
export function similarKey(event: KubeEvent): string {
  return [spamKey(event), event.type, event.reason].join(SEPARATOR);
}
