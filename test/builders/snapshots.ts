import type { Pod } from '../../src/model/pod.ts';
import { type PodSource, SomePods } from '../../src/ports/pod-source.ts';

/** A source's complete sets, one by one, also where it told only what differs. Disposing of it ends the subscription. */
export class Snapshots implements Disposable {
  readonly #ready: (readonly Pod[])[] = [];
  readonly #asked: ((pods: readonly Pod[]) => void)[] = [];
  readonly #subscription;

  constructor({ snapshots }: PodSource) {
    let latest: readonly Pod[] = [];
    this.#subscription = snapshots.subscribe((told) => {
      const pods = told instanceof SomePods ? applied(latest, told) : told;
      latest = pods;
      const asked = this.#asked.shift();
      if (asked === undefined) this.#ready.push(pods);
      else asked(pods);
    });
  }

  /** How many have come that nobody has asked for. */
  get waiting(): number {
    return this.#ready.length;
  }

  next(): Promise<readonly Pod[]> {
    const ready = this.#ready.shift();
    return ready === undefined ? new Promise((resolve) => this.#asked.push(resolve)) : Promise.resolve(ready);
  }

  [Symbol.dispose](): void {
    this.#subscription.unsubscribe();
  }
}

function applied(before: readonly Pod[], { put, gone }: SomePods): readonly Pod[] {
  const pods = new Map(before.map((pod) => [pod.metadata.uid, pod]));
  for (const { metadata } of gone) pods.delete(metadata.uid);
  for (const pod of put) pods.set(pod.metadata.uid, pod);
  return [...pods.values()];
}

export const namesOf = (pods: readonly Pod[]): readonly string[] => pods.map(({ metadata }) => metadata.name);
export const imageOf = (pods: readonly Pod[], name: string): string | undefined =>
  pods.find(({ metadata }) => metadata.name === name)?.spec.containers[0]?.image;
