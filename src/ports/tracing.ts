import type { PodFullName, PodUid } from '../model/pod.ts';
import type { PodAction } from './pod-plan.ts';

/** What is traced as a span of its own. */
export type TracedWork =
  /** One look at a pod. `name`: undefined where it is not known. */
  | { readonly do: 'look'; readonly uid: PodUid; readonly name: PodFullName | undefined }
  /** One action of its plan. */
  | { readonly do: 'act'; readonly action: PodAction }
  /** One verb of the engine, as the kubelet names it: "create_container". */
  | { readonly do: 'operate'; readonly operation: string }
  /** An image is pulled, with the wait for other pulls. */
  | { readonly do: 'pull'; readonly image: string; readonly container: string }
  /** A request to the API server. `path`: without its query. */
  | {
      readonly do: 'ask the API';
      readonly client: ApiClientName;
      readonly method: string;
      readonly server: string;
      readonly path: string;
    }
  /** A request to the node's own server, from one who may make it. `route`: its pattern. `traceparent`: the header. */
  | { readonly do: 'serve'; readonly method: string; readonly route: string; readonly traceparent: string | undefined };

/** Which of the agent's clients asks: see KubeClients. */
export type ApiClientName = 'main' | 'events' | 'heartbeat' | 'reviews';

export interface Tracing {
  /**
   * Calls `run` and returns what it returns. What is traced until that has settled, in what follows from the call, is a part of this work.
   * `traceparent` is the header that carries it to other servers (W3C Trace Context); undefined: this is not traced.
   */
  within<T>(work: TracedWork, run: (traceparent: string | undefined) => Promise<T>): Promise<T>;
}

export const notTraced: Tracing = { within: (_work, run) => run(undefined) };

/** Passes everything on to what traces, once there is something that does. */
export class LaterTracing implements Tracing {
  #to = notTraced;

  within<T>(work: TracedWork, run: (traceparent: string | undefined) => Promise<T>): Promise<T> {
    return this.#to.within(work, run);
  }

  use(tracing: Tracing): void {
    this.#to = tracing;
  }
}
