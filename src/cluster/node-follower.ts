import { BehaviorSubject, ReplaySubject } from 'rxjs';
import { drainInto } from '../base/drain-into.ts';
import type { Service } from '../base/service.ts';
import type { Node } from '../model/node.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Informer, ResourceEvent, WatchedObject } from '../ports/kube-api.ts';

export interface NodeFollowerDeps {
  readonly informer: Informer;
  readonly nodeName: string;
}

/** Follows this node's object in the API while it runs. Rejects when the informer ends with an error, which takes the agent down. */
export class NodeFollower implements Service, Pick<Cluster, 'nodes' | 'nodeChanges' | 'node'> {
  readonly name = 'node informer';
  readonly #deps: NodeFollowerDeps;
  readonly #nodes = new ReplaySubject<ResourceEvent<Node>>(1);
  readonly #node = new BehaviorSubject<Node | undefined>(undefined);
  readonly nodes = this.#nodes.asObservable();
  readonly nodeChanges = this.#node.asObservable();

  constructor(deps: NodeFollowerDeps) {
    this.#deps = deps;
  }

  node(): Node | undefined {
    return this.#node.value;
  }

  run(signal: AbortSignal): Promise<void> {
    const { informer, nodeName } = this.#deps;
    const events = informer<WatchedObject & Node>({ path: '/api/v1/nodes', fieldSelector: `metadata.name=${nodeName}` });
    return drainInto(events, (event) => this.#follow(event), signal);
  }

  #follow(event: ResourceEvent<Node>): void {
    this.#node.next(nodeOf(event));
    this.#nodes.next(event);
  }
}

function nodeOf(event: ResourceEvent<Node>): Node | undefined {
  if (event.kind === 'reset') return event.items[0];
  return event.kind === 'put' ? event.item : undefined;
}
