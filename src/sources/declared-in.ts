import type { Clock } from '../base/clock.ts';
import type { DeclaredManifests } from '../ports/declared-manifests.ts';
import { DeclaredBy } from './declared-by.ts';
import { manifestContents } from './manifest-contents.ts';
import { manifestReader } from './read-manifest.ts';

/** Reads manifests and directories of them as the file source does, for who only looks. Never rejects: what cannot be read is in the answer. */
export async function declaredIn(
  paths: readonly string[],
  { nodeName, clock }: { readonly nodeName: string; readonly clock: Pick<Clock, 'schedule'> },
): Promise<DeclaredManifests> {
  const { files, unreadable, isWhole } = await manifestContents(paths);
  const by = new DeclaredBy(manifestReader({ source: 'file', nodeName, references: 'manifests', objects: true }, clock));
  for (const { file, content } of files) await by.add(file, content);
  return { ...by.declared, unreadable, isWhole };
}
