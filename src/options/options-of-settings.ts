import { configFields } from './decoding/config-fields.ts';
import type { Settings } from './decoding/settings.ts';
import { idleOptions } from './idle-options.ts';
import { fieldOf, type IdleOption } from './option.ts';
import { allOptions, type OptionValues } from './options-table.ts';
import type * as zod from './zod-parts.ts';

export interface OptionsOfSettings {
  readonly values: Partial<OptionValues>;
  /** What decides nothing here. */
  readonly idle: ReadonlyMap<IdleOption, unknown>;
}

/** The options that the `given` fields set. */
export function optionsOfSettings(z: typeof zod, settings: Settings, given: ReadonlySet<string>): OptionsOfSettings {
  const values: [string, unknown][] = [];
  for (const [name, declared] of allOptions) {
    const [field = '', { kind }] = [fieldOf(declared), declared];
    const value = given.has(field) ? settings.get(field) : undefined;
    if (value === undefined) continue;
    const written = kind.inFile?.write ? kind.inFile.write(value) : value;
    values.push([name, kind.inFile === undefined ? value : kind.schema(z).parse(written)]);
  }
  const idle = new Map<IdleOption, unknown>();
  for (const option of idleOptions) {
    const value = given.has(option.config ?? '') ? settings.get(option.config ?? '') : undefined;
    if (value !== undefined) idle.set(option, value);
  }
  return { values: Object.fromEntries(values), idle };
}

/** The settings with what flags set in their place. */
export function withFlags(settings: Settings, flags: OptionsOfSettings): Settings {
  const complete = new Map(settings);
  const values: Readonly<Record<string, unknown>> = flags.values;
  for (const [name, { config = '' }] of allOptions) if (name in values && configFields.has(config)) complete.set(config, values[name]);
  for (const [{ config = '' }, value] of flags.idle) if (configFields.has(config)) complete.set(config, value);
  return complete;
}
