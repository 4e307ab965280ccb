import { isDeepStrictEqual } from 'node:util';
import { idleGates } from './feature-gates/feature-gates.ts';
import type { OptionOrigins } from './kubelet-options.ts';
import type { IdleOption, OptionWarning } from './option.ts';
import type { OptionsOfSettings } from './options-of-settings.ts';
import { allOptions, type OptionValues } from './options-table.ts';
import type { ParsedFlags } from './parse-flags.ts';

/** Where a field of a config file is: "file:line:column"; undefined: no file has it. */
export type PlaceOf = (field: string) => string | undefined;

/** More help no reader. */
const MAX_NAMES = 20;

/** What is said of options that were taken: that they have no meaning here, are deprecated, or cannot work together. */
export function optionWarnings(
  flags: Pick<ParsedFlags, 'idle' | 'former'>,
  file: OptionsOfSettings,
  { origins, values, placeOf }: { readonly origins: OptionOrigins; readonly values: OptionValues; readonly placeOf: PlaceOf },
): readonly OptionWarning[] {
  const warnings: OptionWarning[] = [
    ...flags.former.map(({ flag, now }) => ({ message: `flag is deprecated: its name is ${now}`, option: flag })),
    ...asking(flags.idle).flatMap(({ flag, ...standing }) => {
      return 'noMeaning' in standing ? [{ message: withoutMeaning(standing.noMeaning), option: `--${flag}` }] : [];
    }),
    ...asking(file.idle).flatMap(({ config = '', ...standing }) => {
      if (!('noMeaning' in standing)) return [];
      const at = placeOf(config);
      return [{ message: withoutMeaning(standing.noMeaning), option: config, ...(at !== undefined && { at }) }];
    }),
  ];
  for (const [name, { flag, config, deprecated }] of allOptions) {
    if (deprecated !== undefined && origins[name] !== 'default')
      warnings.push({ message: `option is deprecated: ${deprecated}`, option: flag === undefined ? (config ?? '') : `--${flag}` });
  }
  const gates = idleGates(values.featureGates);
  if (gates.length > 0) {
    const more = gates.length > MAX_NAMES ? ` and ${gates.length - MAX_NAMES} more` : '';
    const message = `feature gates have no meaning on this node: ${gates.slice(0, MAX_NAMES).join(', ')}${more}`;
    warnings.push({ message, option: origins.featureGates === 'flag' ? '--feature-gates' : 'featureGates' });
  }
  if (values.registryQps > 0 && values.registryBurst === 0) {
    warnings.push({ message: 'a burst of 0 lets no image pull start', option: '--registry-burst' });
  }
  return warnings;
}

/** Options whose being passed over would be dangerous, a sentence each, with the place or the flag. */
export function refusedOptions(flags: Pick<ParsedFlags, 'idle'>, file: OptionsOfSettings, placeOf: PlaceOf): readonly string[] {
  return [
    ...asking(flags.idle).flatMap((option) => ('refused' in option ? [`flag --${option.flag} is refused: ${option.refused}`] : [])),
    ...asking(file.idle).flatMap((option) => {
      return 'refused' in option
        ? [`${placeOf(option.config ?? '') ?? ''} ${option.config} is refused: ${option.refused}`.trimStart()]
        : [];
    }),
  ];
}

const withoutMeaning = (why: string): string => `option has no meaning on this node: ${why}`;

const asking = (idle: OptionsOfSettings['idle']): readonly IdleOption[] =>
  [...idle].flatMap(([option, value]) => (saysNothing(option, value) ? [] : [option]));

/** A zero stands for "not set"; so may what a kubelet takes where the field is not set. */
function saysNothing(option: IdleOption, value: unknown): boolean {
  if (option.isMet?.(value) || value === 0 || value === '' || isDeepStrictEqual(value, option.unset)) return true;
  if (value === false) return option.unset !== true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
