import { nearestFlag } from '../base/nearest.ts';
import { UsageError } from './command-io.ts';

export interface FlagSpec {
  /** One letter. */
  readonly short?: string;
  /** Takes a value; otherwise it is on or off. */
  readonly value?: true;
}

export interface ParsedArguments {
  readonly flags: Readonly<Record<string, string>>;
  /** Before "--". */
  readonly words: readonly string[];
  /** After "--"; undefined without it. */
  readonly rest: readonly string[] | undefined;
}

/** Flags as kubectl takes them: `--tail=5`, `--tail 5`, `-it`, `-nNS`, anywhere before "--". Switches are "true" or absent. Throws UsageError. */
export function parseArguments(argv: readonly string[], specs: Readonly<Record<string, FlagSpec>>): ParsedArguments {
  const shorts = new Map(Object.entries(specs).flatMap(([name, { short }]) => (short === undefined ? [] : [[short, name] as const])));
  const flags: Record<string, string> = {};
  const words: string[] = [];
  const end = argv.indexOf('--');
  const before = end < 0 ? argv : argv.slice(0, end);
  const waiting = before.values();
  const set = (name: string, shown: string, inline: string | undefined): void => {
    if (specs[name]?.value !== true) {
      if (inline !== undefined && inline !== 'true' && inline !== 'false') throw new UsageError(`${shown} is true or false, not ${inline}`);
      if (inline === 'false') delete flags[name];
      else flags[name] = 'true';
      return;
    }
    const value = inline ?? waiting.next().value;
    if (value === undefined) throw new UsageError(`${shown} needs a value`);
    flags[name] = value;
  };
  for (let word = waiting.next(); word.done !== true; word = waiting.next()) {
    const [, long, inline] = /^--([^=]+)(?:=(.*))?$/s.exec(word.value) ?? [];
    if (long !== undefined) {
      if (!Object.hasOwn(specs, long)) throw new UsageError(`unknown flag --${long}${nearestFlag(long, Object.keys(specs))}`);
      set(long, `--${long}`, inline);
    } else if (/^-./s.test(word.value)) {
      for (let at = 1; at < word.value.length; at++) {
        const letter = word.value[at] ?? '';
        const name = shorts.get(letter);
        if (name === undefined) throw new UsageError(`unknown flag -${letter}`);
        const tail = word.value.slice(at + 1).replace(/^=/, '');
        const takesRest = specs[name]?.value === true;
        set(name, `-${letter}`, takesRest && tail !== '' ? tail : undefined);
        if (takesRest) break;
      }
    } else {
      words.push(word.value);
    }
  }
  return { flags, words, rest: end < 0 ? undefined : argv.slice(end + 1) };
}
