import { errorText } from '../base/error-text.ts';
import { type DownloadedSource, type NodeConfigs, nodeConfigErrors } from '../model/node-config.ts';
import { type LoadedOptions, OptionsError } from '../options/load-options.ts';
import { type ConfigFiles, readConfigFiles } from '../options/read-config-files.ts';
import { CheckpointStore } from './checkpoint-store.ts';

export interface BootConfigDeps {
  /** As the node's own flags and files have them, checked. */
  readonly local: LoadedOptions;
  /** The same with another file in the place of --config. Rejects with OptionsError. */
  readonly load: (file: string) => Promise<LoadedOptions>;
  readonly files: ConfigFiles;
}

export interface BootedConfig {
  readonly loaded: LoadedOptions;
  /** What takes the place of --config; undefined: nothing does. */
  readonly file: string | undefined;
  readonly configs: NodeConfigs;
  /** Why the assigned configuration is not the active one, a line each. */
  readonly problems: readonly string[];
}

/**
 * Which configuration the agent starts with (Bootstrap in pkg/kubelet/kubeletconfig): the assigned one, or the last known good one where the
 * assigned one cannot be used. Rejects where that cannot be used either.
 */
export async function bootConfig({ local, load, files }: BootConfigDeps): Promise<BootedConfig> {
  const { dynamicConfigDir } = local.options;
  const store = new CheckpointStore(dynamicConfigDir);
  const use = async (source: DownloadedSource | undefined): Promise<Pick<BootedConfig, 'loaded' | 'file'>> => {
    if (source === undefined) return { loaded: local, file: undefined };
    const file = store.fileOf(source);
    return { loaded: await load(file), file };
  };
  const lastKnownGood = await (async () => {
    await store.initialize();
    return store.source('last-known-good');
  })().catch((error: unknown) => {
    throw new OptionsError([`flag --dynamic-config-dir: ${dynamicConfigDir} cannot be used: ${errorText(error)}`]);
  });
  let assigned: DownloadedSource | undefined;
  let failure: Pick<BootedConfig, 'problems'> & { readonly error: string };
  try {
    assigned = await store.source('assigned');
    return { ...(await use(assigned)), configs: { assigned, active: assigned, lastKnownGood, error: undefined }, problems: [] };
  } catch (error) {
    if (!(error instanceof OptionsError)) {
      failure = { error: nodeConfigErrors.load, problems: [errorText(error)] };
    } else {
      const read = assigned && (await readConfigFiles({ configFile: store.fileOf(assigned) }, files, {}));
      const isRead = read !== undefined && read.problems.length === 0;
      failure = { error: isRead ? nodeConfigErrors.validate : nodeConfigErrors.load, problems: error.problems };
    }
  }
  const { error, problems } = failure;
  return { ...(await use(lastKnownGood)), configs: { assigned, active: lastKnownGood, lastKnownGood, error }, problems };
}
