import type { OptionWarning } from './option.ts';

/** More lines than these help no reader. */
const MAX_PROBLEMS = 100;

/** The command line or the config file is wrong: everything that is, a line each; of very many the first. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  readonly problems: readonly string[];
  /** What was passed over besides. */
  readonly warnings: readonly OptionWarning[];
  constructor(found: readonly string[], warnings: readonly OptionWarning[] = []) {
    const more = found.length - MAX_PROBLEMS;
    const problems = more > 0 ? [...found.slice(0, MAX_PROBLEMS), `${more} more`] : found;
    super(problems.join('\n'));
    this.problems = problems;
    this.warnings = warnings;
  }
}
