import type { StreamLevel } from '../base/verbosity.ts';
import type { LiveOptionName, OptionName, OptionValues } from './options-table.ts';

/** All options of the agent, checked and complete. Durations are milliseconds; an empty string means "none". */
export interface KubeletOptions extends Omit<OptionValues, 'hostnameOverride' | 'logFormat'> {
  readonly nodeName: string;
  readonly logFormat: 'json' | 'text';
}

/** Those that are read where they are needed. */
export type LiveOptions = Pick<KubeletOptions, LiveOptionName>;

/** Where an option's value comes from: the strongest that set it. */
export type OptionOrigin = 'flag' | 'file' | 'default';
export type OptionOrigins = { readonly [Name in OptionName]: OptionOrigin };

/** What `--vmodule` says, as the log takes it. */
export const streamLevels = ({ vmodule }: Pick<KubeletOptions, 'vmodule'>): readonly StreamLevel[] =>
  vmodule.map(({ filePattern = '', verbosity = 0 }) => ({ pattern: filePattern, level: verbosity }));
