import { filesUnder } from '../base/files-under.ts';
import { NoFileError } from '../base/no-file-error.ts';
import type { OptionWarning } from './option.ts';
import type { ParsedFlags } from './parse-flags.ts';
import { type ConfigFiles, isDropIn } from './read-config-files.ts';

/** The line of a manifest that says so, in YAML or JSON. */
const podKind = /^[\s{]*["']?kind["']?\s*:\s*["']?(?:Pod|PodList)["']?[\s,]*$/m;

/**
 * `--config` of Kubernetes before 1.8 named what --pod-manifest-path names by now: a directory of manifests, or one of them. It still does, with a
 * warning. A KubeletConfiguration that is wrong, and a directory with drop-in files, are none of them.
 */
export async function withFormerConfigFlag(
  flags: ParsedFlags,
  files: ConfigFiles,
): Promise<{ readonly flags: ParsedFlags; readonly warnings: readonly OptionWarning[] }> {
  const { configFile = '', podManifestPath, ...values } = flags.values;
  const isManifest = configFile !== '' && podManifestPath === undefined && (await namesManifests(configFile, files));
  if (!isManifest) return { flags, warnings: [] };
  return {
    flags: { ...flags, values: { ...values, podManifestPath: configFile } },
    warnings: [{ message: 'manifests are named by --pod-manifest-path by now', option: '--config' }],
  };
}

async function namesManifests(path: string, files: ConfigFiles): Promise<boolean> {
  try {
    return podKind.test(await files.readFile(path));
  } catch (error) {
    if (!(error instanceof NoFileError) || error.found !== 'a directory') return false;
    return (files.listFiles ?? filesUnder)(path).then(
      (names) => !names.some(isDropIn),
      () => false,
    );
  }
}
