import { type ConfigInput, parsed, shown } from './eviction-thresholds.ts';

export function run(input: ConfigInput): object {
  const { thresholds, faults } = parsed(input);
  return faults[0] ? { error: faults[0].message } : { thresholds: shown(thresholds) };
}
