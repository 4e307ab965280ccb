/** What becomes of a field, and of everything below it. */
export type Verdict =
  | {
      readonly is: 'honoured';
      /** Who sees to it, where it is not this agent. */
      readonly by?: string;
    }
  | {
      /** How it is approximated, why it is ignored, or in which words and where it is refused. */
      readonly is: 'approximated' | 'ignored' | 'refused';
      readonly note: string;
      /** For which values that is so; for others the field is honoured. Absent: for all. */
      readonly when?: Condition;
    };

export interface Condition {
  /** Completes "if it …". */
  readonly words: string;
  readonly holds: (value: unknown) => boolean;
}

/** A type of Kubernetes' API, field by field. */
export interface Section {
  readonly type: string;
  readonly fields: Readonly<Record<string, Verdict | Section>>;
  /** What holds for some values as a whole, besides what becomes of their fields. */
  readonly also?: Verdict;
}

/** The compiler sees to it that no field of T is left out and none made up. */
type FieldsOf<T> = { readonly [K in keyof T]-?: Verdict | (Element<NonNullable<T[K]>> extends object ? Section : never) };
type Element<T> = T extends readonly (infer U)[] ? U : T;

export function section<T>(type: string, fields: FieldsOf<T>): Section & { readonly fields: FieldsOf<T> } {
  return { type, fields };
}

export const honoured: Verdict = { is: 'honoured' };
export const honouredBy = (by: string): Verdict => ({ is: 'honoured', by });

type Unhonoured = Extract<Verdict, { readonly note: string }>;
type Rest = Omit<Unhonoured, 'is' | 'note'>;
export const approximated = (note: string, rest: Rest = {}): Verdict => ({ is: 'approximated', note, ...rest });
export const ignored = (note: string, rest: Rest = {}): Verdict => ({ is: 'ignored', note, ...rest });
export const refused = (note: string, rest: Rest = {}): Verdict => ({ is: 'refused', note, ...rest });

export const is = (wanted: string | boolean): Condition => ({ words: `is ${wanted}`, holds: (value) => value === wanted });
export const isNot = (...others: readonly string[]): Condition => ({
  words: `is not ${others.join(' or ')}`,
  holds: (value) => !others.some((other) => other === value),
});
/** Of a map: one of its keys fits. */
export const names = (words: string, fits: (key: string) => boolean): Condition => ({
  words: `names ${words}`,
  holds: (value) => typeof value === 'object' && value !== null && Object.keys(value).some(fits),
});
