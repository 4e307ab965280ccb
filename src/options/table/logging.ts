import { int32, oneOf } from '../kinds.ts';
import { option } from '../option.ts';

export const loggingOptions = {
  verbosity: option<number>({
    flag: 'v',
    shorthand: 'v',
    config: 'logging.verbosity',
    kind: int32,
    default: 0,
    group: 'Logging',
    help: 'How much detail to log: 0 transitions, 2 every decision, 4 every step and error stacks, 6 every request.',
  }),
  logFormat: option<'json' | 'text' | undefined>({
    flag: 'log-format',
    aliases: ['logging-format'],
    config: 'logging.format',
    kind: oneOf(['json', 'text']),
    default: undefined,
    defaultText: 'text on a terminal, else json',
    group: 'Logging',
    help: 'How log lines are written to standard error.',
  }),
} as const;
