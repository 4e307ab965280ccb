import { errorText } from '../base/error-text.ts';
import { manifestTools } from './manifest-tools.ts';
import { readManifestFile } from './read-manifest-file.ts';

/** What lies at paths that are manifests, or directories of them. */
export interface ManifestContents {
  readonly files: readonly { readonly file: string; readonly content: Uint8Array }[];
  /** With the error's words. */
  readonly unreadable: readonly { readonly file: string; readonly why: string }[];
  /** A directory was among the paths. */
  readonly isWhole: boolean;
}

/** Reads files as the file source does, for who only looks. Never rejects. */
export async function manifestContents(paths: readonly string[]): Promise<ManifestContents> {
  const tools = manifestTools({ nodeName: 'node' });
  const files: { file: string; content: Uint8Array }[] = [];
  const unreadable: { file: string; why: string }[] = [];
  let isWhole = false;
  for (const path of new Set(paths)) {
    try {
      const listed = await tools.list(path);
      isWhole ||= listed[0] !== path;
      for (const file of listed) {
        const found = await readManifestFile(file, undefined);
        if (found.is === 'read') files.push({ file, content: found.content });
        else unreadable.push({ file, why: whyNot(found) });
      }
    } catch (error) {
      unreadable.push({ file: path, why: errorText(error) });
    }
  }
  return { files, unreadable, isWhole };
}

type NotRead = Exclude<Awaited<ReturnType<typeof readManifestFile>>, { is: 'read' }>;

function whyNot(found: NotRead): string {
  if (found.is === 'other') return `${found.what}, no manifest`;
  return found.is === 'unreadable' ? errorText(found.error) : 'no such file';
}
