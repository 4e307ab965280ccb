import type { NodeConfigs } from '../model/node-config.ts';
import type { LiveOptions } from '../options/kubelet-options.ts';
import type { LoadedOptions } from '../options/load-options.ts';

/** Where the agent's options come from. */
export interface ConfigSource {
  /** All flags and files as they are now, read and checked as at the start. Rejects with OptionsError. */
  read(): Promise<LoadedOptions>;
  /** With --dynamic-config-dir: which configuration the agent was started with. */
  readonly booted?: NodeConfigs | undefined;
}

/** The same for the one who makes changes count. */
export interface ConfigControl extends ConfigSource {
  /** From now on these are the options that are read where they are needed. */
  apply(options: LiveOptions): void;
  /** Ends the agent, well, so that whatever keeps it running starts it again. */
  restart(): void;
}
