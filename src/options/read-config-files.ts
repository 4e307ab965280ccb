import { join } from 'node:path';
import { errorText } from '../base/error-text.ts';
import { filesUnder } from '../base/files-under.ts';
import type { GivenGates } from './feature-gates/feature-gates.ts';
import { type ConfigText, loadConfig, type LoadedConfig } from './load-config.ts';
import { OptionsError } from './options-error.ts';
import type { OptionValues } from './options-table.ts';

/** What files are read with. */
export interface ConfigFiles {
  readFile(path: string): Promise<string>;
  /** The files in a directory and in those below it, by their paths from there, in order. Default: the file system's. */
  readonly listFiles?: typeof filesUnder;
}

const isDropIn = (path: string): boolean => path.endsWith('.conf');

/** What --config and --config-dir lead to. Rejects with OptionsError where they cannot be read. */
export async function readConfigFiles(flags: Partial<OptionValues>, files: ConfigFiles, gates: GivenGates): Promise<LoadedConfig> {
  const { configFile = '', configDirectory = '' } = flags;
  const read = async (flag: string, path: string): Promise<ConfigText> => ({
    path,
    text: await files.readFile(path).catch((error: unknown) => {
      throw new OptionsError([`flag ${flag}: cannot read ${path}: ${errorText(error)}`]);
    }),
  });
  const file = configFile === '' ? undefined : await read('--config', configFile);
  const dropIns: ConfigText[] = [];
  if (configDirectory !== '') {
    const names = await (files.listFiles ?? filesUnder)(configDirectory).catch((error: unknown) => {
      throw new OptionsError([`flag --config-dir: cannot read ${configDirectory}: ${errorText(error)}`]);
    });
    for (const name of names.filter(isDropIn)) dropIns.push(await read('--config-dir', join(configDirectory, name)));
  }
  return loadConfig(file, dropIns, gates);
}
