import type { V1Service } from '@kubernetes/client-node';
import { map, merge, of, ReplaySubject, timer } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { drainInto } from '../base/drain-into.ts';
import { firstOf } from '../base/first-of.ts';
import type { Service } from '../base/service.ts';
import { isStaticPod } from '../model/mirror-pod.ts';
import type { Pod } from '../model/pod.ts';
import type { Wire } from '../model/wire.ts';
import type { Informer, ResourceEvent, WatchedObject } from '../ports/kube-api.ts';

export type ServiceObject = Wire<V1Service> & WatchedObject;

export interface ServiceListDeps {
  readonly informer: Informer;
  readonly clock: Clock;
}

/** How long a container waits at most for the first list, which comes within moments of the agent's start. */
const SYNC_MS = 5_000;

/** Every service of the cluster: containers are told of them in their environment. */
export class ServiceList implements Service {
  readonly name = 'services';
  readonly #deps: ServiceListDeps;
  readonly #services = new Map<string, ServiceObject>();
  readonly #latest = new ReplaySubject<readonly ServiceObject[]>(1);

  constructor(deps: ServiceListDeps) {
    this.#deps = deps;
  }

  run(signal: AbortSignal): Promise<void> {
    return drainInto(this.#deps.informer<ServiceObject>({ path: '/api/v1/services' }), (event) => this.#take(event), signal);
  }

  /** What the pod's containers are told of; undefined when it is not known. A pod of the API server waits for the first list, a static one for nothing. */
  async for(pod: Pod, signal: AbortSignal): Promise<readonly ServiceObject[] | undefined> {
    const isStatic = isStaticPod(pod);
    const none = isStatic ? of(0) : timer(SYNC_MS, this.#deps.clock);
    const known = await firstOf<readonly ServiceObject[] | undefined>(merge(this.#latest, none.pipe(map(() => undefined))), signal);
    return known ?? (isStatic ? [] : undefined);
  }

  #take(event: ResourceEvent<ServiceObject>): void {
    if (event.kind === 'reset') {
      this.#services.clear();
      for (const item of event.items) this.#services.set(keyOf(item), item);
    } else if (event.kind === 'put') this.#services.set(keyOf(event.item), event.item);
    else this.#services.delete(keyOf(event.item));
    this.#latest.next([...this.#services.values()]);
  }
}

function keyOf({ metadata }: WatchedObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}
