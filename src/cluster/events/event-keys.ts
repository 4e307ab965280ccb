import type { KubeEvent } from '../../model/kube-event.ts';

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
