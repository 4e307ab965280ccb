import type { OptionName, OptionValues } from './options-table.ts';

/** All options of the agent, checked and complete. Durations are milliseconds; an empty string means "none". */
export interface KubeletOptions extends Omit<OptionValues, 'hostnameOverride' | 'logFormat'> {
  readonly nodeName: string;
  readonly logFormat: 'json' | 'text';
}

/** Where an option's value comes from: the strongest that set it. */
export type OptionOrigin = 'flag' | 'file' | 'default';
export type OptionOrigins = { readonly [Name in OptionName]: OptionOrigin };
