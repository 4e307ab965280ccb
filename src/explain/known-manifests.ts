import type { Clock } from '../base/clock.ts';
import { LruMap } from '../base/lru-map.ts';
import type { ExplainedOrigin } from '../model/explanation.ts';
import type { Happenings, ManifestPod, ManifestRead } from '../ports/happenings.ts';

/** More than a directory has. What was read longest ago gives way. */
const MOST_MANIFESTS = 2_000;
/** Of one URL. */
const MOST_PODS = 5_000;
const MOST_COLLISIONS = 200;

export interface KnownManifest extends ManifestRead {
  /** When it was read: a date. */
  readonly atMs: number;
}

interface Collision {
  readonly pod: string;
  readonly counts: string;
  readonly ignored: string;
}

/** What was last read of each manifest: where its pods stand, and what is wrong with it. */
export class KnownManifests {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #manifests = new LruMap<string, KnownManifest>(MOST_MANIFESTS);
  readonly #collisions = new LruMap<string, Collision>(MOST_COLLISIONS);

  /** Sorted once for all who ask until the next is read. */
  #sorted: readonly KnownManifest[] | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  readonly listener: Partial<Happenings> = {
    manifestRead: (read) => {
      this.#sorted = undefined;
      this.#manifests.set(read.where, { ...read, pods: read.pods.slice(0, MOST_PODS), atMs: this.#clock.now() });
    },
    manifestGone: ({ where }) => {
      this.#sorted = undefined;
      this.#manifests.delete(where);
    },
    manifestsCollided: (collision) => this.#collisions.set(`${collision.pod} ${collision.counts} ${collision.ignored}`, collision),
  };

  /** Where the pod of this name and uid stands. */
  of(
    pod: string,
    uid: string,
  ): { readonly origin: ExplainedOrigin; readonly faults: readonly string[]; readonly ignored: readonly string[] } {
    for (const manifest of this.all()) {
      const found = manifest.pods.find((each) => each.pod === pod && each.uid === uid);
      // The first of two files counts.
      if (!found || this.#ignores(pod, manifest.where)) continue;
      return { origin: originOf(manifest, found), faults: manifest.faults, ignored: this.#ignoredFor(pod, manifest.where) };
    }
    return { origin: {}, faults: [], ignored: [] };
  }

  /** In the order of their names. */
  all(): readonly KnownManifest[] {
    this.#sorted ??= this.#manifests
      .keys()
      .flatMap((where) => this.#manifests.get(where) ?? [])
      .toSorted((one, other) => (one.where < other.where ? -1 : 1));
    return this.#sorted;
  }

  /** Which manifest counts in place of this one for the pod; undefined: this one does. */
  winnerOver(pod: string, where: string): string | undefined {
    return this.#live((each) => each.pod === pod && each.ignored === where)[0]?.counts;
  }

  #ignores(pod: string, where: string): boolean {
    return this.winnerOver(pod, where) !== undefined;
  }

  #ignoredFor(pod: string, where: string): readonly string[] {
    return this.#live((each) => each.pod === pod && each.counts === where).map(({ ignored }) => ignored);
  }

  /** Both manifests are there, and say so: looked for in these alone, which may have thousands of pods. */
  #live(is: (collision: Collision) => boolean): readonly Collision[] {
    const declares = (where: string, pod: string): boolean => this.#manifests.get(where)?.pods.some((each) => each.pod === pod) ?? false;
    return this.#collisions
      .keys()
      .flatMap((key) => this.#collisions.get(key) ?? [])
      .filter((each) => is(each) && declares(each.counts, each.pod) && declares(each.ignored, each.pod));
  }
}

export const originOf = ({ source, where }: ManifestRead, { line }: ManifestPod): ExplainedOrigin => ({ source, where, line });
