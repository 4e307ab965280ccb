import { loadConfig } from '../../src/options/load-config.ts';
import type { OptionWarning } from '../../src/options/option.ts';
import { type OptionsOfSettings, optionsOfSettings } from '../../src/options/options-of-settings.ts';
import * as z from '../../src/options/zod-parts.ts';

/** A config file alone, as the agent reads it before flags. */
export async function parseConfigFile(
  text: string,
  path: string,
): Promise<OptionsOfSettings & { readonly warnings: readonly OptionWarning[]; readonly problems: readonly string[] }> {
  const { settings, given, warnings, problems } = await loadConfig({ path, text }, [], {});
  if (problems.length > 0) return { values: {}, idle: new Map(), warnings, problems };
  return { ...optionsOfSettings(z, settings, given), warnings, problems };
}
