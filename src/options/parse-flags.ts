import { nearest, nearestFlag } from '../base/nearest.ts';
import { commands } from './commands.ts';
import { idleOptions } from './idle-options.ts';
import { ExpectedError, flagsOf, type IdleOption, type Kind } from './option.ts';
import { allOptions, type OptionName, optionsTable, type OptionValues } from './options-table.ts';

export interface ParsedFlags {
  /** What was given; the rest comes from the config file or the defaults. */
  readonly values: Partial<OptionValues>;
  /** Flags that were given and decide nothing here. */
  readonly idle: ReadonlyMap<IdleOption, unknown>;
  /** Flags that were given and have another name by now. */
  readonly former: readonly FormerFlag[];
  /** Options with a fault of their own. */
  readonly faulty: ReadonlySet<Pick<IdleOption, 'flag' | 'config'>>;
  /** Every fault, in the order of the arguments; the rest is valid only when there is none. */
  readonly problems: readonly string[];
}

/** A flag that has another name by now. */
export interface FormerFlag {
  readonly flag: string;
  readonly now: string;
}

interface KnownFlag {
  readonly kind: Kind<unknown>;
  readonly target: OptionName | IdleOption;
  /** The flag to use in its place. */
  readonly now?: string;
}

/**
 * Reads arguments as the kubelet's pflag does: `--flag=value`, `--flag value`, `--bool`, `-v=2`, underscores as dashes; lists
 * and maps add up, everything else is overridden by the last. Arguments that are no flags are refused, with the flag or command that
 * was probably meant.
 */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const { long, short } = knownFlags();
  const given = new Map<OptionName | IdleOption, { readonly kind: Kind<unknown>; readonly values: unknown[] }>();
  const problems: string[] = [];
  const former: FormerFlag[] = [];
  const faulty = new Set<Pick<IdleOption, 'flag' | 'config'>>();
  for (let at = 0; at < argv.length; at++) {
    const argument = argv[at] ?? '';
    const found = split(argument, short);
    if (found === undefined) {
      problems.push(`unexpected argument ${JSON.stringify(argument)}${meantByWord(argument, argv[at - 1], long)}`);
      // What follows belongs to it.
      while (argv[at + 1]?.startsWith('-') === false) at++;
      continue;
    }
    const flag = found.flag.startsWith('--') ? long.get(normal(found.flag)) : short.get(found.flag);
    if (flag === undefined) {
      problems.push(unknownFlag(found.flag, long));
      // What follows was probably this flag's value: one fault is enough.
      const next = argv[at + 1];
      if (found.value === undefined && next !== undefined && !next.startsWith('-')) at++;
      continue;
    }
    const now = flag.now ?? (found.flag.includes('_') ? normal(found.flag) : undefined);
    if (now !== undefined) former.push({ flag: found.flag, now: `--${now}` });
    let text = found.value ?? flag.kind.bare;
    if (text === undefined) {
      text = argv[++at];
      if (text === undefined) {
        problems.push(`flag ${found.flag} needs a value: expected ${flag.kind.expected}`);
        faulty.add(declaredOf(flag.target));
        continue;
      }
    }
    try {
      const value = flag.kind.parse(text);
      const earlier = given.get(flag.target)?.values ?? [];
      if (flag.kind.merge) earlier.push(value);
      given.set(flag.target, { kind: flag.kind, values: flag.kind.merge ? earlier : [value] });
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      const shown = flag.kind.sensitive ? '' : `, found ${JSON.stringify(text)}`;
      problems.push(`flag ${found.flag}: expected ${error.message}${shown}`);
      faulty.add(declaredOf(flag.target));
    }
  }
  const values: [string, unknown][] = [];
  const idle = new Map<IdleOption, unknown>();
  for (const [target, { kind, values: all }] of given) {
    if (typeof target === 'string') values.push([target, all.length > 1 && kind.merge ? kind.merge(all) : all[0]]);
    else idle.set(target, all.length > 1 && kind.merge ? kind.merge(all) : all[0]);
  }
  return { values: Object.fromEntries(values), idle, former, faulty, problems };
}

function knownFlags(): { readonly long: ReadonlyMap<string, KnownFlag>; readonly short: ReadonlyMap<string, KnownFlag> } {
  const long = new Map<string, KnownFlag>();
  const short = new Map<string, KnownFlag>();
  for (const [target, option] of allOptions) {
    for (const name of flagsOf(option)) {
      const isFormer = option.formerFlags?.includes(name) === true && option.flag !== undefined;
      long.set(name, { kind: option.kind, target, ...(isFormer && { now: option.flag }) });
    }
    if (option.shorthand !== undefined) short.set(`-${option.shorthand}`, { kind: option.kind, target });
  }
  for (const target of idleOptions) {
    if (target.flag !== undefined) long.set(target.flag, { kind: target.kind, target });
  }
  return { long, short };
}

const declaredOf = (target: OptionName | IdleOption): Pick<IdleOption, 'flag' | 'config'> =>
  typeof target === 'string' ? optionsTable[target] : target;

const normal = (flag: string): string => flag.slice(2).replaceAll('_', '-');

/** Undefined for what is no flag, `--` included. */
function split(argument: string, short: ReadonlyMap<string, KnownFlag>): { flag: string; value: string | undefined } | undefined {
  if (!argument.startsWith('-') || argument === '-' || argument === '--') return undefined;
  const equals = argument.indexOf('=');
  const flag = equals < 0 ? argument : argument.slice(0, equals);
  const value = equals < 0 ? undefined : argument.slice(equals + 1);
  // -v2 is -v=2; -vx is left whole, to be named as unknown.
  if (!flag.startsWith('--') && flag.length > 2 && short.has(flag.slice(0, 2)) && /^\d+$/.test(argument.slice(2))) {
    return { flag: flag.slice(0, 2), value: argument.slice(2) };
  }
  return { flag, value };
}

const unknownFlag = (flag: string, long: ReadonlyMap<string, KnownFlag>): string =>
  `unknown flag ${flag}${nearestFlag(flag.replace(/^-+/, '').replaceAll('_', '-'), long.keys())}`;

/** Where a word stands that is no flag: the value of a switch before it takes a `=`; else a command, or a flag without its dashes. */
function meantByWord(word: string, before: string | undefined, long: ReadonlyMap<string, KnownFlag>): string {
  const kind = before?.startsWith('--') ? long.get(normal(before))?.kind : undefined;
  if (kind?.bare !== undefined && isValue(kind, word)) return `; did you mean ${before}=${word}?`;
  const command = nearest(word, commands);
  if (command !== undefined) return `; did you mean rxlet ${command}?`;
  return nearestFlag(word.replace(/=.*/s, '').replaceAll('_', '-'), long.keys());
}

function isValue(kind: Kind<unknown>, text: string): boolean {
  try {
    kind.parse(text);
    return true;
  } catch {
    return false;
  }
}
