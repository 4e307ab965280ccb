import { dirname } from 'node:path';
import type { ManifestFault } from '../model/manifest-fault.ts';
import type { ManifestObject } from '../model/manifest-object.ts';
import type { Pod } from '../model/pod.ts';
import type { DeclaredManifests } from '../ports/declared-manifests.ts';
import type { ReadManifest } from './read-manifest.ts';

/** Gathers what manifests declare, one after the other, as the file source does: of two that name one thing the first counts. */
export class DeclaredBy {
  readonly #read: ReadManifest;
  readonly #pods = new Map<string, { readonly pod: Pod; readonly file: string }>();
  readonly #objects = new Map<string, { readonly object: ManifestObject; readonly file: string }>();
  readonly #refused: DeclaredManifests['refused'][number][] = [];

  constructor(read: ReadManifest) {
    this.#read = read;
  }

  async add(file: string, content: Uint8Array): Promise<void> {
    const { pods, objects, faults } = await this.#read(content);
    const all = [...pods, ...objects];
    const twice = all.flatMap(({ key }) => repeated(key, file, (this.#pods.get(key) ?? this.#objects.get(key))?.file));
    const found = [...faults, ...all.flatMap((each) => each.faults), ...twice];
    if (found.length > 0) {
      this.#refused.push({ file, pods: pods.flatMap(({ key }) => (this.#pods.has(key) ? [] : [key])), faults: found });
      return;
    }
    for (const { key, pod } of pods) if (pod) this.#pods.set(key, { pod, file });
    for (const { key, object } of objects) if (object) this.#objects.set(key, { object, file });
  }

  get declared(): Pick<DeclaredManifests, 'pods' | 'objects' | 'refused'> {
    return { pods: this.#pods, objects: this.#objects, refused: this.#refused };
  }
}

/** Of two files the first by name counts. */
function repeated(name: string, file: string, first: string | undefined): readonly ManifestFault[] {
  if (first === undefined || first === file) return [];
  const where = dirname(first) === dirname(file) ? '' : ' at another place';
  const detail = `${first} declares it too${where}, and only that one would count`;
  return [{ type: 'FieldValueDuplicate', field: 'metadata.name', detail, badValue: name, line: 1, column: 1 }];
}
