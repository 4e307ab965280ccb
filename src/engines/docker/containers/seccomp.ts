import { isAbsolute } from 'node:path';
import { errorText } from '../../../base/error-text.ts';
import { readTextFile } from '../../../base/read-text-file.ts';
import { goJsonSyntaxError } from '../../../model/go-json-syntax.ts';

const LOCALHOST = 'localhost/';

/**
 * Docker's SecurityOpt for a profile. Unconfined unless asked otherwise, as dockershim did, or the engine's own profile where that is the
 * default. Rejects when a profile's file is missing or no JSON.
 */
export async function seccompOpts(profile: string, byDefault = false): Promise<string[]> {
  if (profile === '' && byDefault) return [];
  if (profile === '' || profile === 'unconfined') return ['seccomp=unconfined'];
  // Without the option docker applies its default profile.
  if (profile === 'runtime/default' || profile === 'docker/default') return [];
  if (!profile.startsWith(LOCALHOST)) throw new Error(`unknown seccomp profile option: ${profile}`);
  const file = profile.slice(LOCALHOST.length);
  if (!isAbsolute(file)) throw new Error(`seccomp profile path must be absolute, but got relative path ${JSON.stringify(file)}`);
  const text = await readProfile(file);
  const fault = goJsonSyntaxError(text);
  if (fault !== undefined) throw new Error(fault);
  return [`seccomp=${compactJson(text)}`];
}

async function readProfile(file: string): Promise<string> {
  try {
    return await readTextFile(file);
  } catch (cause) {
    throw new Error(`cannot load seccomp profile ${JSON.stringify(file)}: ${errorText(cause)}`, { cause });
  }
}

/** Drops the space between tokens and keeps every token as written. */
function compactJson(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, '$1');
}
