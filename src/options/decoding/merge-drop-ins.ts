import { featureGates, type GivenGates } from '../feature-gates/feature-gates.ts';
import { gatesIn, withDefaults } from './default-settings.ts';
import { fieldTree, fileSchema } from './field-tree.ts';
import { mergePatch } from './merge-patch.ts';
import type { ReadConfig } from './read-config-text.ts';
import { type Settings, settingsOf } from './settings.ts';
import { writtenConfig } from './written-config.ts';

/**
 * Complete settings with drop-in files merged over them one after the other, and defaults once more (mergeKubeletConfigurations in
 * cmd/kubelet/app). Each file has been read without problems. Relative paths in them stay as they are.
 */
export async function mergeDropIns(base: Settings, dropIns: readonly Pick<ReadConfig, 'content'>[], gates: GivenGates): Promise<Settings> {
  const z = await import('../zod-parts.ts');
  const merged = dropIns.reduce((config, { content }) => mergePatch(config, content), writtenConfig(base));
  const settings = settingsOf(fileSchema(z, fieldTree()).parse(merged));
  return withDefaults(settings, featureGates({ ...gates, ...gatesIn(settings) }));
}
