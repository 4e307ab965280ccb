import { optionsTable, type OptionName, type OptionValues } from './options-table.ts';

/** "syncFrequency (--sync-frequency)", as the kubelet's own messages name a setting. */
function named(name: OptionName): string {
  const { flag, config }: { flag: string; config?: string } = optionsTable[name];
  return config === undefined ? `--${flag}` : `${config} (--${flag})`;
}

/** What is wrong with the values, alone or together, one sentence each. `set` are the options that a flag or the file gave. */
export function checkOptions(values: OptionValues, set: ReadonlySet<OptionName>): readonly string[] {
  const problems: string[] = [];
  const show = (
    name: 'fileCheckFrequencyMs' | 'httpCheckFrequencyMs' | 'syncFrequencyMs' | 'imagePullProgressDeadlineMs' | 'runtimeRequestTimeoutMs',
  ) => optionsTable[name].kind.show(values[name]);

  // A ticker of zero or less has no meaning: the kubelet takes these and then panics or spins.
  for (const name of ['fileCheckFrequencyMs', 'httpCheckFrequencyMs', 'syncFrequencyMs', 'imagePullProgressDeadlineMs'] as const) {
    if (values[name] <= 0) problems.push(`invalid configuration: ${named(name)} ${show(name)} must be more than 0`);
  }
  if (values.runtimeRequestTimeoutMs < 0) {
    problems.push(`invalid configuration: ${named('runtimeRequestTimeoutMs')} ${show('runtimeRequestTimeoutMs')} must not be negative`);
  }
  // Words as in pkg/kubelet/apis/config/validation/validation.go.
  for (const name of ['registryBurst', 'registryQps'] as const) {
    if (values[name] < 0) problems.push(`invalid configuration: ${named(name)} ${values[name]} must not be a negative number`);
  }
  if (values.maxParallelImagePulls !== undefined) {
    if (values.maxParallelImagePulls < 1) {
      problems.push(`invalid configuration: ${named('maxParallelImagePulls')} ${values.maxParallelImagePulls} must be a positive number`);
    } else if (values.maxParallelImagePulls > 1 && values.serializeImagePulls && set.has('serializeImagePulls')) {
      problems.push(
        `invalid configuration: ${named('maxParallelImagePulls')} cannot be larger than 1 unless ${named('serializeImagePulls')} is set to false`,
      );
    }
  }
  if (values.manifestUrl !== '' && !isHttpUrl(values.manifestUrl)) {
    problems.push(`invalid configuration: ${named('manifestUrl')} must be an http or https URL`);
  }
  if (values.rootDir === '') problems.push(`invalid configuration: ${named('rootDir')} must not be empty`);
  return problems;
}

function isHttpUrl(text: string): boolean {
  const protocol = URL.parse(text)?.protocol;
  return protocol === 'http:' || protocol === 'https:';
}
