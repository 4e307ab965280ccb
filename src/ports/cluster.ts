import type { Observable } from 'rxjs';
import type { Node, NodeAddress } from '../model/node.ts';
import type { ApiPods } from './api-pods.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { Happenings } from './happenings.ts';
import type { KubeClients, ResourceEvent } from './kube-api.ts';
import type { PodSource } from './pod-source.ts';
import type { ServingCertificate } from './serving-certificate.ts';
import type { Staged } from './staged.ts';

/** The cluster that the node belongs to; none is one without pods, whose requests are rejected and whose watches say nothing. */
export interface Cluster {
  /** False: there is no API server. */
  readonly exists: boolean;
  readonly clients: KubeClients;
  /** Those that the API server binds to this node. */
  readonly sources: readonly PodSource[];
  readonly apiPods: ApiPods;
  /** Never waits for the API server. */
  readonly recorder: EventRecorder;
  /** This node's object, by the informer; hot, the latest at once for who comes later. */
  readonly nodes: Observable<ResourceEvent<Node>>;
  /** This node as the API server shows it; undefined while it is not known. */
  node(): Node | undefined;
  /** As `node`, now and whenever it changes. */
  readonly nodeChanges: Observable<Node | undefined>;
  /** The certificate that the node's server shows: given, signed by the cluster, or made here. Ready when the first is known, or must be asked for. */
  servingCertificate(addresses: () => readonly NodeAddress[]): ServingCertificate & Pick<Staged, 'name' | 'run' | 'ready'>;
  /** What it has to hear of the agent: whose events it may forget. */
  readonly listener: Partial<Happenings>;
  readonly services: readonly Staged[];
}
