import { errorText } from '../base/error-text.ts';
import type { PodUid } from '../model/pod.ts';

/** Which pods wait for their claims, or for these to be given back, and why. */
export class ClaimFaults {
  readonly #faults = new Map<PodUid, string>();

  pods(): readonly PodUid[] {
    return [...this.#faults.keys()];
  }

  of(uid: PodUid): string | undefined {
    return this.#faults.get(uid);
  }

  /** As the work. `onNews` hears of what fails, once for each cause. */
  async during(uid: PodUid, work: () => Promise<void>, onNews: (why: string) => void = () => {}): Promise<void> {
    try {
      await work();
      this.#faults.delete(uid);
    } catch (error) {
      const why = errorText(error);
      const isNews = this.#faults.get(uid) !== why;
      this.#faults.set(uid, why);
      if (isNews) onNews(why);
      throw error;
    }
  }
}
