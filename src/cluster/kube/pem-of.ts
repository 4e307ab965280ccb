import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { errorText } from '../../base/error-text.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import type { KubeconfigFields } from './parse-kubeconfig.ts';

/** The PEM text of NAME-data, which goes before the file that NAME names. Rejects with KubeconfigError, naming both. */
export async function pemOf(fields: KubeconfigFields, name: string, directory: string, where: string): Promise<string | undefined> {
  const data = fields.text(`${name}-data`);
  if (data !== undefined) {
    const pem = Buffer.from(data, 'base64').toString('latin1');
    if (pem.includes('-----BEGIN ')) return pem;
    throw new KubeconfigError('malformed', `kubeconfig ${fields.at(`${name}-data`)}: ${name}-data: expected PEM in base64`);
  }
  const path = fields.text(name);
  if (path === undefined) return undefined;
  const resolved = resolve(directory, path);
  try {
    return await readFile(resolved, 'latin1');
  } catch (cause) {
    throw new KubeconfigError('unreadable', `${where}: ${name} ${resolved} cannot be read: ${errorText(cause)}`, { cause });
  }
}
