import { join } from 'node:path';
import { printable } from '../base/printable.ts';
import { VERSION } from './device-plugins.ts';

/** Longer ones no socket can have. */
const MOST_NAME = 100;

/** Why a plugin that asks like this is not taken, in the words of a kubelet where that refuses it, too; undefined: it may be. */
export function registrationFault({ version, endpoint }: { readonly version: string; readonly endpoint: string }): string | undefined {
  if (version !== VERSION)
    return `requested API version ${JSON.stringify(version.slice(0, 100))} is not supported by kubelet. Supported version is ["${VERSION}"]`;
  if (endpoint === '' || endpoint.length > MOST_NAME || /[/\p{Cc}]/u.test(endpoint) || endpoint === '.' || endpoint === '..') {
    const shown = JSON.stringify(printable(endpoint.slice(0, MOST_NAME)));
    return `the endpoint ${shown} is invalid: it has to be the name of the plugin's socket in the directory of kubelet.sock`;
  }
  return undefined;
}

export const socketOf = (rootDir: string, endpoint: string): string => join(rootDir, 'device-plugins', endpoint);
