import { readFile } from 'node:fs/promises';
import { errorCode } from './error-code.ts';

/** A file as UTF-8. Rejects in the words of Go's os package, which users of a kubelet know. */
export async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const words = goWords[errorCode(cause) ?? ''];
    throw words === undefined ? cause : new Error(`${words.call} ${path}: ${words.why}`);
  }
}

const goWords: Readonly<Record<string, { readonly call: string; readonly why: string }>> = {
  ENOENT: { call: 'open', why: 'no such file or directory' },
  ENOTDIR: { call: 'open', why: 'not a directory' },
  EACCES: { call: 'open', why: 'permission denied' },
  ELOOP: { call: 'open', why: 'too many levels of symbolic links' },
  EISDIR: { call: 'read', why: 'is a directory' },
};
