import type { Clock } from '../base/clock.ts';
import { deadline } from '../base/deadline.ts';
import { drainInto } from '../base/drain-into.ts';
import { LatestValue } from '../base/latest-value.ts';
import type { Service } from '../base/service.ts';
import { isStaticPod } from '../model/mirror-pod.ts';
import type { Pod } from '../model/pod.ts';
import type { Informer, ResourceEvent, WatchedObject } from '../ports/kube-api.ts';
import type { ServiceObject } from '../ports/service-object.ts';

export interface ServiceListDeps {
  readonly informer: Informer;
  readonly clock: Clock;
}

/** How long a container waits at most for the first list, which comes within moments of the agent's start. */
const SYNC_MS = 5_000;

/** Every service of the cluster, for the environment of containers. */
export class ServiceList implements Service {
  readonly name = 'services';
  readonly #deps: ServiceListDeps;
  readonly #services = new Map<string, ServiceObject>();
  readonly #latest = new LatestValue<readonly ServiceObject[]>();

  constructor(deps: ServiceListDeps) {
    this.#deps = deps;
  }

  run(signal: AbortSignal): Promise<void> {
    return drainInto(this.#deps.informer<ServiceObject>({ path: '/api/v1/services' }), (event) => this.#take(event), signal);
  }

  /** The services that the environment of the pod's containers names; undefined when they are not known. A pod of the API server waits for the first list, a static one for nothing. */
  async for(pod: Pod, signal: AbortSignal): Promise<readonly ServiceObject[] | undefined> {
    signal.throwIfAborted();
    const { known } = this.#latest;
    if (known !== undefined) return known.value;
    if (isStaticPod(pod)) return [];
    using within = deadline(this.#deps.clock, SYNC_MS, 'the first list of services', signal);
    try {
      return await this.#latest.wait(within.signal);
    } catch (error) {
      if (within.missed) return undefined;
      throw error;
    }
  }

  #take(event: ResourceEvent<ServiceObject>): void {
    if (event.kind === 'reset') {
      this.#services.clear();
      for (const item of event.items) this.#services.set(keyOf(item), item);
    } else if (event.kind === 'put') this.#services.set(keyOf(event.item), event.item);
    else this.#services.delete(keyOf(event.item));
    this.#latest.set([...this.#services.values()]);
  }
}

function keyOf({ metadata }: WatchedObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}
