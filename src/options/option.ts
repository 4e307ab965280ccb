import type * as zod from './zod-parts.ts';

/** A value that a flag or field cannot take. The message says what is expected: "a whole number from 0 to 9". */
export class ExpectedError extends Error {}

/** How a value is written: on the command line, in the config file, and in help. */
export interface Kind<T> {
  /** As `--help` names it: "duration", "strings". */
  readonly name: string;
  /** Completes "expected …" in messages. */
  readonly expected: string;
  /** The value of a bare `--flag`; absent when the flag needs one. */
  readonly bare?: string;
  /** Values may hold credentials: messages do not repeat them. */
  readonly sensitive?: boolean;
  /** Throws ExpectedError. */
  parse(text: string): T;
  /** Lists and maps: what a repeated flag adds to. Absent: the last one wins. */
  merge?(values: readonly T[]): T;
  /** As it would be written after `--flag=`. */
  show(value: T): string;
  /** As the config file has it; absent: as it is. */
  write?(value: T): unknown;
  /** For the config file; its output is T. */
  schema(z: typeof zod): zod.ZodType<T>;
  /** What Kubernetes decodes from the config file, where that is more: what `schema` does not take is refused afterwards. */
  readonly inFile?: Kind<unknown>;
}

/** One setting, declared once: flags, config file, help, precedence and the reference page derive from it. */
export interface Option<T> {
  /** Without dashes. Absent: the config file alone can set it. At least one of flag and config is there. */
  readonly flag?: string;
  /** A single letter: `-v`. */
  readonly shorthand?: string;
  /** Other flags for the same setting. */
  readonly aliases?: readonly string[];
  /** Flags that older releases had for it: they still work, with a warning. */
  readonly formerFlags?: readonly string[];
  /** The path in a KubeletConfiguration: "logging.format". */
  readonly config?: string;
  /** The field of Kubernetes 1.3's KubeletConfiguration, where that has another name, or there is none any more: it still works, with a warning. */
  readonly formerField?: string;
  readonly kind: Kind<NonNullable<T>>;
  readonly default: T;
  /** What a kubelet takes where its config file does not have the field; absent: the default. */
  readonly unset?: NonNullable<T>;
  /** What help says in place of the default's value. */
  readonly defaultText?: string;
  readonly group: OptionGroup;
  /** One sentence. */
  readonly help: string;
  /** The release that first honoured it; absent: the first one. */
  readonly since?: string;
  /** Why, and what to use in its place. */
  readonly deprecated?: string;
  /** In the config file a zero means "not set", as Kubernetes' defaulting has it. */
  readonly zeroInFileIsUnset?: boolean;
  /** A relative path in the config file starts at that file's directory. */
  readonly path?: boolean;
  /** When a change of the config files counts that is made while the agent runs; absent: after its next start. */
  readonly takesEffect?: 'at once';
}

/** An option that is read each time its value is needed. */
export interface LiveOption<T> extends Option<T> {
  readonly takesEffect: 'at once';
}

type Named = Pick<Option<unknown>, 'flag' | 'aliases' | 'formerFlags' | 'config' | 'formerField'>;

/** Every flag for the setting, without dashes. */
export const flagsOf = ({ flag, aliases = [], formerFlags = [] }: Named): readonly string[] =>
  flag === undefined ? [] : [flag, ...aliases, ...formerFlags];

/** The field that a config file is read by. */
export const fieldOf = ({ config, formerField }: Named): string | undefined => config ?? formerField;

/** Keeps the type of the option's value. */
export const option = <T>(declared: Option<T>): Option<T> => declared;

/** The same for one that is read where its value is needed, so that a change counts while the agent runs. */
export const liveOption = <T>(declared: Option<T>): LiveOption<T> => ({ ...declared, takesEffect: 'at once' });

export const optionGroups = ['Pods', 'Engine and images', 'Node', 'Network', 'Cluster', 'Server', 'Logging', 'General'] as const;
export type OptionGroup = (typeof optionGroups)[number];

/**
 * A flag or field of some kubelet that decides nothing here: it is read and checked, and what becomes of it then is its standing. No option is
 * accepted in silence: it works (Option), has no meaning on this node, or is refused.
 */
export type IdleOption<T = unknown> = IdleSetting<T> & Standing;

interface IdleSetting<T> extends Pick<Option<T>, 'flag' | 'config'> {
  readonly kind: Kind<T>;
  /** What a kubelet takes where the field is not set, as the config file has it: setting it to that, or to a zero, changes nothing anywhere. */
  readonly unset?: unknown;
  /** In the config file a zero means "not set", as Kubernetes' defaulting has it. */
  readonly zeroInFileIsUnset?: boolean;
  /** A relative path in the config file starts at that file's directory. */
  readonly path?: boolean;
  /** Whether the value asks for what happens here anyway. */
  isMet?(value: T): boolean;
}

/** One sentence without its full stop. */
export type Standing =
  /** Why: said once where the option is set. */
  | { readonly noMeaning: string }
  /** Why passing it over would be dangerous, and what to do: the agent does not start. */
  | { readonly refused: string };

/** One sentence, and which setting it is about. */
export interface OptionWarning {
  readonly message: string;
  readonly option: string;
  /** "file:line:column" */
  readonly at?: string;
}
