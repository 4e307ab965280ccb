import type { Observable } from 'rxjs';
import type { NodeCondition, ResourceList } from '../model/node.ts';

/** What /healthz looks at. */
export interface HealthCheck {
  readonly name: string;
  /** Undefined: well. */
  readonly error?: string;
  /** Said of one that is well. */
  readonly note?: string;
}

/** A part in what is said of the node. Each is asked often, and answers at once from what it knows. */
export interface NodeParticipant {
  /** Conditions besides the kubelet's own, or in their place. Times are filled in. */
  conditions?(): readonly Pick<NodeCondition, 'type' | 'status' | 'reason' | 'message'>[];
  /** Why the node is not ready. */
  errors?(): readonly string[];
  /** What the node has besides the machine's: counted into capacity and allocatable. */
  resources?(): ResourceList;
  /** What of these nobody can have now, as devices that are not healthy: counted into capacity, not into allocatable. */
  unusable?(): ResourceList;
  health?(): readonly HealthCheck[];
  /** Volumes that nobody may detach from the node, as node.status names them; undefined: not known yet, those reported stay. */
  volumesInUse?(): readonly string[] | undefined;
  /** Emits when conditions, errors, resources or volumes may say something else: reported to the API server at once. */
  readonly changes?: Observable<unknown>;
}

/** Frees what the node is short of. */
export interface Reclaimer {
  readonly name: string;
  readonly resource: 'nodefs' | 'imagefs' | 'containerfs';
  /** Resolves with the bytes that were freed; undefined: the next measurement shows them. */
  reclaim(signal: AbortSignal): Promise<number | undefined>;
}
