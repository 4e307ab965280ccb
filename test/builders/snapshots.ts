import type { Pod } from '../../src/model/pod.ts';
import type { PodSource } from '../../src/ports/pod-source.ts';

/** A source's snapshots, one by one. Disposing of it ends the subscription. */
export class Snapshots implements Disposable {
  readonly #ready: (readonly Pod[])[] = [];
  readonly #asked: ((pods: readonly Pod[]) => void)[] = [];
  readonly #subscription;

  constructor({ snapshots }: PodSource) {
    this.#subscription = snapshots.subscribe((pods) => {
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

export const namesOf = (pods: readonly Pod[]): readonly string[] => pods.map(({ metadata }) => metadata.name);
export const imageOf = (pods: readonly Pod[], name: string): string | undefined =>
  pods.find(({ metadata }) => metadata.name === name)?.spec.containers[0]?.image;
