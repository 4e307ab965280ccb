import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import type { ManifestObject } from '../model/manifest-object.ts';
import { referenceKey } from '../model/pod-references.ts';
import { type Pod, showPod } from '../model/pod.ts';
import type { DeclaredManifests } from '../ports/declared-manifests.ts';
import type { ManifestNews } from './manifest-news.ts';

/** What one manifest declares. */
export interface Declaration {
  readonly pod: Pod | undefined;
  readonly objects: readonly ManifestObject[];
}

/** One manifest of a directory. One that seems gone gives way to others. */
export interface DeclaringFile {
  readonly path: string;
  readonly made: Declaration | undefined;
  readonly gone: boolean;
}

/** What a manifest made, for a message. */
export function namesOf(made: Declaration | undefined): string {
  const pod = made?.pod;
  const names = [...(pod ? [showPod(pod)] : []), ...(made?.objects ?? []).map(objectKey)];
  return names.length === 0 ? 'no pod' : names.join(', ');
}

/** Joins what the files of a directory declare. Says once which of two counts that name the same thing. */
export class Declarations {
  readonly #log: Logger;
  readonly #tell: Pick<ManifestNews, 'manifestsCollided'>;
  /** As many as there are. */
  readonly #collisions = new OngoingFaults<string>(Number.POSITIVE_INFINITY);

  constructor(log: Logger, tell: Pick<ManifestNews, 'manifestsCollided'>) {
    this.#log = log;
    this.#tell = tell;
  }

  of(files: readonly DeclaringFile[]): { readonly pods: readonly Pod[]; readonly objects: readonly ManifestObject[] } {
    const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    const collisions = new Set<string>();
    const once = (key: string, winner: string, loser: string, say: () => void): void => {
      const collision = `${key} ${winner} ${loser}`;
      collisions.add(collision);
      if (this.#collisions.fault(collision)) say();
    };
    const pods = winners(
      sorted,
      ({ pod }) => (pod ? [pod] : []),
      showPod,
      (pod, runs, ignored) =>
        once(pod, runs, ignored, () => {
          const message = 'two manifests name one pod: the first file runs, the other is ignored';
          this.#log.error(message, { pod, runs, ignored });
          this.#tell.manifestsCollided({ pod, counts: runs, ignored });
        }),
    );
    const objects = winners(
      sorted,
      (made) => made.objects,
      objectKey,
      (object, counts, ignored) =>
        once(object, counts, ignored, () => {
          const message = 'two manifests declare one object: the first counts, the other is ignored';
          this.#log.error(message, { object, counts, ignored });
        }),
    );
    this.#collisions.retain((collision) => collisions.has(collision));
    return { pods: pods.map(({ part }) => part), objects: objects.map(({ part }) => part) };
  }
}

/** Of two files that name one thing the first by name wins; one that seems gone gives way. */
function winners<T>(
  files: readonly DeclaringFile[],
  partsOf: (made: Declaration) => readonly T[],
  keyOf: (part: T) => string,
  onCollision: (key: string, winner: string, loser: string) => void,
): readonly Winner<T>[] {
  const found = new Map<string, Winner<T>>();
  for (const { path, made, gone } of files) {
    for (const part of made ? partsOf(made) : []) {
      const key = keyOf(part);
      const winner = found.get(key);
      if (winner === undefined || (winner.gone && !gone)) found.set(key, { path, part, gone });
      else if (!gone) onCollision(key, winner.path, path);
    }
  }
  return [...found.values()];
}

interface Winner<T> {
  readonly path: string;
  readonly part: T;
  readonly gone: boolean;
}

/** What counts of what the files declare, with the file of each. `isWhole`: there is no more than that. */
export function countingNow(files: readonly DeclaringFile[], nodeName: string): DeclaredManifests {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const pods = winners(
    sorted,
    ({ pod }) => (pod ? [pod] : []),
    showPod,
    () => {},
  );
  const objects = winners(
    sorted,
    (made) => made.objects,
    objectKey,
    () => {},
  );
  // As the manifest names it: without the node's name at its end.
  const written = (name: string): string => name.slice(0, -(nodeName.length + 1));
  return {
    pods: new Map(pods.map(({ part: pod, path }) => [`${pod.metadata.namespace}/${written(pod.metadata.name)}`, { pod, file: path }])),
    objects: new Map(objects.map(({ part: object, path }) => [objectKey(object), { object, file: path }])),
    refused: [],
    unreadable: [],
    isWhole: true,
  };
}

/** "Secret default/login" */
export const objectKey = ({ kind, metadata }: ManifestObject): string =>
  referenceKey({ kind, namespace: metadata.namespace, name: metadata.name });
