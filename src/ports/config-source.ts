import type { LiveOptions } from '../options/kubelet-options.ts';
import type { LoadedOptions } from '../options/load-options.ts';

/** Where the agent's options come from. */
export interface ConfigSource {
  /** All flags and files as they are now, read and checked as at the start. Rejects with OptionsError. */
  read(): Promise<LoadedOptions>;
}

/** The same for the one who makes changes count. */
export interface ConfigControl extends ConfigSource {
  /** From now on these are the options that are read where they are needed. */
  apply(options: LiveOptions): void;
}
