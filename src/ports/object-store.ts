import type { Observable } from 'rxjs';
import type { ObjectReferenceOfPod } from '../model/pod-references.ts';
import type { Pod, PodUid } from '../model/pod.ts';

/** A ConfigMap or a Secret, as on the wire: a Secret's data is base64, as is a ConfigMap's binaryData. */
export interface ReferencedObject {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid: string; readonly resourceVersion: string };
  /** Of a Secret: "kubernetes.io/dockerconfigjson". */
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
  /** It never changes: it need not be watched. */
  readonly immutable?: boolean;
}

/** ConfigMaps and Secrets that pods of this node refer to. Never logged. */
export interface ObjectStore {
  /** Rejects with ApiError 404 when there is no such object, with another error when that is not known. */
  get(reference: ObjectReferenceOfPod, signal: AbortSignal): Promise<ReferencedObject>;
  /** What the pod refers to is followed from now on, and what it no longer refers to is not. Cheap to repeat. */
  register(pod: Pod): void;
  /** Succeeds when the pod is not registered. */
  unregister(uid: PodUid): void;
  /** Registered pods one of whose objects has changed, appeared or gone. Hot; says nothing under strategies that do not watch. */
  readonly changes: Observable<PodUid>;
}
