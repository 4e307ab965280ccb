import { dirname } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import type { ManifestFault } from '../model/manifest-fault.ts';
import type { DeclaredManifests } from '../ports/declared-manifests.ts';
import { manifestTools } from './manifest-tools.ts';
import { readManifestFile } from './read-manifest-file.ts';
import { manifestReader } from './read-manifest.ts';
import type { StaticManifest } from './read-static-pods.ts';

/** Reads manifests and directories of them as the file source does, for who only looks. Never rejects: what cannot be read is in the answer. */
export async function declaredIn(
  paths: readonly string[],
  { nodeName, clock }: { readonly nodeName: string; readonly clock: Pick<Clock, 'schedule'> },
): Promise<DeclaredManifests> {
  const tools = manifestTools({ nodeName });
  const read = manifestReader({ source: 'file', nodeName, references: 'manifests', objects: true }, clock);
  const pods = new Map<string, { pod: NonNullable<StaticManifest['pods'][number]['pod']>; file: string }>();
  const objects = new Map<string, { object: NonNullable<StaticManifest['objects'][number]['object']>; file: string }>();
  const refused: { file: string; pods: readonly string[]; faults: readonly ManifestFault[] }[] = [];
  const unreadable: { file: string; why: string }[] = [];
  let isWhole = false;
  for (const path of new Set(paths)) {
    let files: readonly string[] = [];
    try {
      files = await tools.list(path);
      isWhole ||= files[0] !== path;
    } catch (error) {
      unreadable.push({ file: path, why: errorText(error) });
    }
    for (const file of files) {
      const found = await readManifestFile(file, undefined);
      if (found.is !== 'read') {
        const why =
          found.is === 'other' ? `${found.what}, no manifest` : found.is === 'unreadable' ? errorText(found.error) : 'no such file';
        unreadable.push({ file, why });
        continue;
      }
      const manifest = await read(found.content);
      const twice = [...manifest.pods, ...manifest.objects].flatMap(({ key }) =>
        repeated(key, file, (pods.get(key) ?? objects.get(key))?.file),
      );
      const faults = [...manifest.faults, ...[...manifest.pods, ...manifest.objects].flatMap((each) => each.faults), ...twice];
      if (faults.length > 0) {
        refused.push({ file, pods: manifest.pods.flatMap(({ key }) => (pods.has(key) ? [] : [key])), faults });
        continue;
      }
      for (const { key, pod } of manifest.pods) if (pod) pods.set(key, { pod, file });
      for (const { key, object } of manifest.objects) if (object) objects.set(key, { object, file });
    }
  }
  return { pods, objects, refused, unreadable, isWhole };
}

/** Of two files the first by name counts. */
function repeated(name: string, file: string, first: string | undefined): readonly ManifestFault[] {
  if (first === undefined || first === file) return [];
  const where = dirname(first) === dirname(file) ? '' : ' at another place';
  const detail = `${first} declares it too${where}, and only that one would count`;
  return [{ type: 'FieldValueDuplicate', field: 'metadata.name', detail, badValue: name, line: 1, column: 1 }];
}
