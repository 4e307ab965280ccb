/** One value of a metric; a time where the value was measured earlier than it is reported. */
export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly atMs?: number;
}

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly samples: readonly MetricSample[];
}

/** Prometheus' text format: families and labels in the order of their names, none without samples. */
export function exposition(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, help, type, samples }) => {
      const lines = samples.map(
        ({ labels, value, atMs }) => `${name}${labelText(labels)} ${valueText(value)}${atMs === undefined ? '' : ` ${Math.round(atMs)}`}\n`,
      );
      return `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n${lines.join('')}`;
    })
    .join('');
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const names = Object.keys(labels).toSorted();
  return names.length === 0 ? '' : `{${names.map((name) => `${name}="${escaped(labels[name] ?? '')}"`).join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function valueText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
