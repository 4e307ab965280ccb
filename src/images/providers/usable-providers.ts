import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../../base/error-text.ts';
import { formatFieldError } from '../../model/validation/field-error.ts';
import { fileFault, type FileFault } from '../../options/file-fault.ts';
import { type ProviderConfig, readProviders } from './provider-config.ts';
import { providerFaults } from './provider-faults.ts';

export interface ProviderPaths {
  /** --image-credential-provider-config: a file, or a directory of .json, .yaml and .yml files. */
  readonly path: string;
  /** --image-credential-provider-bin-dir */
  readonly directory: string;
  /** The feature gate KubeletServiceAccountTokenForCredentialProviders. */
  readonly mayHaveTokens: boolean;
}

export interface UsableProviders extends ProviderConfig {
  /** All that is wrong with their configuration, and programs that are not there; the rest is valid only when there is none. */
  readonly faults: readonly FileFault[];
}

/** Reads the configuration of credential providers, and looks for their programs. */
export async function usableProviders({ path, directory, mayHaveTokens }: ProviderPaths): Promise<UsableProviders> {
  const wrong = (found: string): FileFault => ({ option: 'imageCredentialProviderConfig', fault: `${path}: ${found}` });
  const inDirectory = (look: () => Promise<unknown>): Promise<readonly FileFault[]> =>
    fileFault('imageCredentialProviderBinDir', () =>
      look().catch((cause: unknown) => {
        throw new Error(`${directory}: ${errorText(cause)}`);
      }),
    );
  let config: ProviderConfig;
  try {
    config = await readProviders(path);
  } catch (error) {
    // Whatever the configuration is to say, it needs a program.
    return { providers: [], hash: '', faults: [wrong(errorText(error)), ...(await inDirectory(() => readdir(directory)))] };
  }
  const faults = providerFaults(config.providers, mayHaveTokens).map((fault) => wrong(formatFieldError(fault)));
  if (faults.length > 0) return { ...config, faults: [...faults, ...(await inDirectory(() => readdir(directory)))] };
  const programs = config.providers.map(({ name }) =>
    inDirectory(async () =>
      access(join(directory, name), constants.X_OK).catch((cause: unknown) => {
        throw new Error(`the program of the provider ${name} cannot be run`, { cause });
      }),
    ),
  );
  return { ...config, faults: (await Promise.all(programs)).flat() };
}
