import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isDropIn } from '../options/read-config-files.ts';
import { type Lookup, lookupsOf } from './lookups.ts';
import { ANY } from './path-watch.ts';

/** More names are no directory of settings: none is read then. */
const MAX_NAMES = 1_000;

/** What has to be watched for changes of --config and of the files in --config-dir; an empty path is none. */
export async function configLookups({ configFile, configDirectory }: ConfigPaths): Promise<readonly Lookup[]> {
  const file = configFile === '' ? [] : await lookupsOf(configFile);
  if (configDirectory === '') return file;
  const { directories, dropIns } = await treeOf(configDirectory);
  const links = await Promise.all(dropIns.map(lookupsOf));
  const within = directories.map((directory) => ({ directory, name: ANY }));
  return [...file, ...(await lookupsOf(configDirectory)), ...within, ...links.flat()];
}

export interface ConfigPaths {
  readonly configFile: string;
  readonly configDirectory: string;
}

/** The directory and those below it, and the drop-in files in them. */
async function treeOf(top: string): Promise<{ readonly directories: readonly string[]; readonly dropIns: readonly string[] }> {
  const directories: string[] = [];
  const dropIns: string[] = [];
  let names = 0;
  const waiting = [top];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) continue;
    directories.push(directory);
    names += entries.length;
    if (names > MAX_NAMES) break;
    for (const entry of entries) {
      if (entry.isDirectory()) waiting.push(join(directory, entry.name));
      else if (isDropIn(entry.name)) dropIns.push(join(directory, entry.name));
    }
  }
  return { directories, dropIns };
}
