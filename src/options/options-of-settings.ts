import { acceptedOptions } from './accepted-options.ts';
import { configFields } from './decoding/config-fields.ts';
import type { Settings } from './decoding/settings.ts';
import type { AcceptedOption } from './option.ts';
import { allOptions, type OptionValues } from './options-table.ts';
import type * as zod from './zod-parts.ts';

export interface OptionsOfSettings {
  readonly values: Partial<OptionValues>;
  /** What nothing reads yet. */
  readonly withoutEffect: ReadonlyMap<AcceptedOption, unknown>;
}

/** The options that the `given` fields set. */
export function optionsOfSettings(z: typeof zod, settings: Settings, given: ReadonlySet<string>): OptionsOfSettings {
  const values: [string, unknown][] = [];
  for (const [name, { config = '', kind }] of allOptions) {
    const value = given.has(config) ? settings.get(config) : undefined;
    if (value === undefined) continue;
    const written = kind.inFile?.write ? kind.inFile.write(value) : value;
    values.push([name, kind.inFile === undefined ? value : kind.schema(z).parse(written)]);
  }
  const withoutEffect = new Map<AcceptedOption, unknown>();
  for (const option of acceptedOptions) {
    const value = given.has(option.config ?? '') ? settings.get(option.config ?? '') : undefined;
    if (value !== undefined) withoutEffect.set(option, value);
  }
  return { values: Object.fromEntries(values), withoutEffect };
}

/** The settings with what flags set in their place. */
export function withFlags(settings: Settings, flags: OptionsOfSettings): Settings {
  const complete = new Map(settings);
  const values: Readonly<Record<string, unknown>> = flags.values;
  for (const [name, { config = '' }] of allOptions) if (name in values && configFields.has(config)) complete.set(config, values[name]);
  for (const [{ config = '' }, value] of flags.withoutEffect) if (configFields.has(config)) complete.set(config, value);
  return complete;
}
