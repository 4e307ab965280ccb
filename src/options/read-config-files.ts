import { join } from 'node:path';
import { errorText } from '../base/error-text.ts';
import { filesUnder } from '../base/files-under.ts';
import type { GivenGates } from './feature-gates/feature-gates.ts';
import { type ConfigText, loadConfig, type LoadedConfig } from './load-config.ts';
import type { OptionValues } from './options-table.ts';

/** What files are read with. */
export interface ConfigFiles {
  /** Rejects with NoFileError for what is no file. */
  readFile(path: string): Promise<string>;
  /** The files in a directory and in those below it, by their paths from there, in order. Default: the file system's. */
  readonly listFiles?: typeof filesUnder;
}

/** Of all files of --config-dir together, in characters: each one is small. */
const MAX_DROP_INS_LENGTH = 2 ** 22;

export const isDropIn = (path: string): boolean => path.endsWith('.conf');

/** What --config and --config-dir lead to; what of it cannot be read is a problem. */
export async function readConfigFiles(flags: Partial<OptionValues>, files: ConfigFiles, gates: GivenGates): Promise<LoadedConfig> {
  const { configFile = '', configDirectory = '' } = flags;
  const unread: string[] = [];
  const tried = async <T>(flag: string, path: string, read: (path: string) => Promise<T>): Promise<T | undefined> => {
    try {
      return await read(path);
    } catch (error) {
      unread.push(`flag ${flag}: cannot read ${path}: ${errorText(error)}`);
      return undefined;
    }
  };
  const readFile = (flag: string, path: string): Promise<ConfigText | undefined> =>
    tried(flag, path, async () => ({ path, text: await files.readFile(path) }));

  const file = configFile === '' ? undefined : await readFile('--config', configFile);
  const dropIns: ConfigText[] = [];
  if (configDirectory !== '') {
    const names = (await tried('--config-dir', configDirectory, files.listFiles ?? filesUnder)) ?? [];
    let room = MAX_DROP_INS_LENGTH;
    for (const name of names.filter(isDropIn)) {
      const dropIn = await readFile('--config-dir', join(configDirectory, name));
      room -= dropIn?.text.length ?? 0;
      if (room < 0) {
        unread.push(`flag --config-dir: the files in ${configDirectory} are longer than ${MAX_DROP_INS_LENGTH} characters together`);
        break;
      }
      if (dropIn !== undefined) dropIns.push(dropIn);
    }
  }
  const loaded = await loadConfig(file, dropIns, gates);
  return { ...loaded, problems: [...unread, ...loaded.problems] };
}
