import type { ApiClient, PodEvent } from './api-client.ts';

export const PODS = '/api/v1/namespaces/default/pods';

/** What became of the pods in the default namespace, told at once. */
export class PodWatch {
  readonly #waiting = new Map<string, () => void>();
  #stop = (): void => {};

  /** Resolves once it watches. */
  static async start(api: ApiClient): Promise<PodWatch> {
    const watch = new PodWatch();
    watch.#stop = await api.watchPods(PODS, (event) => watch.#see(event));
    return watch;
  }

  /** Asked before what is waited for can have happened. */
  told(what: 'ready' | 'gone', name: string): Promise<void> {
    return new Promise((done) => this.#waiting.set(`${what} ${name}`, done));
  }

  stop(): void {
    this.#stop();
  }

  #see({ type, object }: PodEvent): void {
    const { phase, containerStatuses = [] } = object.status ?? {};
    const ready = phase === 'Running' && containerStatuses.length > 0 && containerStatuses.every((each) => each.ready);
    if (type === 'DELETED') this.#waiting.get(`gone ${object.metadata.name}`)?.();
    else if (ready) this.#waiting.get(`ready ${object.metadata.name}`)?.();
  }
}
