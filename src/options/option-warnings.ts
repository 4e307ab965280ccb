import { isDeepStrictEqual } from 'node:util';
import type { OptionOrigins } from './kubelet-options.ts';
import type { AcceptedOption, OptionWarning } from './option.ts';
import type { OptionsOfSettings } from './options-of-settings.ts';
import { allOptions, type OptionValues } from './options-table.ts';

/** What is said of options that were taken: that they have no effect yet, are deprecated, or cannot work together. */
export function optionWarnings(
  flags: OptionsOfSettings,
  file: OptionsOfSettings,
  origins: OptionOrigins,
  values: OptionValues,
): readonly OptionWarning[] {
  const idle = ({ withoutEffect }: OptionsOfSettings): readonly AcceptedOption[] =>
    [...withoutEffect].flatMap(([option, value]) => (saysNothing(option, value) ? [] : [option]));
  const warnings: OptionWarning[] = [
    ...idle(flags).map(({ flag }) => ({ message: 'flag has no effect yet', option: `--${flag}` })),
    ...idle(file).map(({ config = '' }) => ({ message: 'config field has no effect yet', option: config })),
  ];
  for (const [name, { flag, config, deprecated }] of allOptions) {
    if (deprecated !== undefined && origins[name] !== 'default')
      warnings.push({ message: `option is deprecated: ${deprecated}`, option: flag === undefined ? (config ?? '') : `--${flag}` });
  }
  if (values.registryQps > 0 && values.registryBurst === 0) {
    warnings.push({ message: 'a burst of 0 lets no image pull start', option: '--registry-burst' });
  }
  return warnings;
}

/** A zero stands for "not set"; so may what a kubelet takes where the field is not set. */
function saysNothing(option: AcceptedOption, value: unknown): boolean {
  if (option.isMet?.(value) || value === 0 || value === '' || isDeepStrictEqual(value, option.unset)) return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
