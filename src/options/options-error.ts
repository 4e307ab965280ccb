import type { OptionWarning } from './option.ts';

/** More lines than these help no reader. */
const MAX_PROBLEMS = 100;
/** Of a line: a value stands in it whole. */
const MAX_LENGTH = 4096;

/** The command line or the config file is wrong: everything that is, a line each; of very many the first, and of a very long one its beginning. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  readonly problems: readonly string[];
  /** What was passed over besides. */
  readonly warnings: readonly OptionWarning[];
  constructor(found: readonly string[], warnings: readonly OptionWarning[] = []) {
    const more = found.length - MAX_PROBLEMS;
    const problems = [...found.slice(0, MAX_PROBLEMS).map(cut), ...(more > 0 ? [`${more} more`] : [])];
    super(problems.join('\n'));
    this.problems = problems;
    this.warnings = warnings;
  }
}

const cut = (line: string): string => (line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line);
