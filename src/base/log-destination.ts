import type { Severity } from './klog-line.ts';
import type { LineDestination } from './pino-logger.ts';

export const severities: readonly Severity[] = ['info', 'warning', 'error'];

export interface LogDestinationDeps {
  readonly standardError: LineDestination;
  /** Each with the severities that it has lines of. */
  readonly files: readonly { readonly takes: readonly Severity[]; write(lines: string): boolean }[];
  /** From there on lines are on standard error, too; "none": no line is. */
  readonly alsoFrom: Severity | 'none';
}

/** The log in files, as klog splits it. A line that no file could take is on standard error. */
export function logDestination({ standardError, files, alsoFrom }: LogDestinationDeps): LineDestination {
  const isLoud = (severity: Severity): boolean => alsoFrom !== 'none' && severities.indexOf(severity) >= severities.indexOf(alsoFrom);
  return {
    write: (lines, severity = 'error') => {
      const kept = files.filter(({ takes }) => takes.includes(severity)).map((file) => file.write(lines));
      if (isLoud(severity) || !kept.includes(true)) standardError.write(lines, severity);
    },
  };
}

/** Which lines the file of a severity has: also those of worse ones, unless each line is in one file only. */
export const takenBy = (severity: Severity, oneOutput: boolean): readonly Severity[] =>
  oneOutput ? [severity] : severities.slice(severities.indexOf(severity));
