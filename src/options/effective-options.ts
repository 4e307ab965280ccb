import { withoutPassword } from './configz.ts';
import type { LoadedOptions } from './load-options.ts';
import { fieldOf, flagsOf, type OptionGroup, type Option } from './option.ts';
import { allOptions } from './options-table.ts';

/** An option as it is now, and where that comes from. */
export interface EffectiveOption {
  /** Its field in a config file, or its flag. */
  readonly name: string;
  readonly group: OptionGroup;
  /** As it would be written after its flag; without what may be secret. */
  readonly value: string;
  readonly from: 'default' | 'file' | 'drop-in' | 'flag';
  /** "file:line:column", or the flag. */
  readonly at?: string;
}

/** Every option that works, in the order of the table; what only asks for help is left out. */
export function effectiveOptions({
  options,
  origins,
  placeOf,
}: Pick<LoadedOptions, 'options' | 'origins' | 'placeOf'>): readonly EffectiveOption[] {
  const values: Readonly<Record<string, unknown>> = { ...options, hostnameOverride: options.nodeName };
  return allOptions.flatMap(([name, option]): readonly EffectiveOption[] => {
    if (asking.has(name)) return [];
    const field = fieldOf(option);
    const named = { name: option.config ?? `--${option.flag}`, group: option.group, value: shown(option, values[name]) };
    if (origins[name] === 'flag') return [{ ...named, from: 'flag', at: `--${flagsOf(option)[0]}` }];
    // A later file may have taken it away again.
    const place = field === undefined || origins[name] === 'default' ? undefined : placeOf(field);
    return [place === undefined ? { ...named, from: 'default' } : { ...named, from: place.role, at: place.at }];
  });
}

const asking: ReadonlySet<string> = new Set(['help', 'helpAll', 'version']);

function shown({ kind, defaultText }: Option<unknown>, value: unknown): string {
  if (value === undefined || value === null) return defaultText === undefined ? '' : `(${defaultText})`;
  if (kind.sensitive === true) return Object.keys(value).length === 0 ? '' : '[redacted]';
  const text = kind.show(value);
  // What flags give as a text of its own, and the file as a list.
  const written =
    text === '' && typeof value === 'object' && Object.keys(value).length > 0 ? JSON.stringify(kind.write?.(value) ?? value) : text;
  return withoutPassword(written);
}
