import type { PlaceOf } from './option-warnings.ts';

/** Before and after a name that stands by itself: "port" is none in "--healthz-port". */
const edges = ['(?<![\\w.-])', '(?![\\w-])'] as const;
/** A name that is a word of the language, too, such as "port", names its field where the sentence begins with it. */
const WORD = /^[a-z]+$/;
const BEGINNING = '(?<=^|^invalid configuration: )';

/**
 * What is wrong with values, each sentence with the place of the first field in it that a file sets. A sentence about what could not be read
 * in the first place is left out: that has been said.
 */
export function locateProblems(
  problems: readonly string[],
  fields: ReadonlySet<string>,
  unread: readonly string[],
  placeOf: PlaceOf,
): readonly string[] {
  if (problems.length === 0) return problems;
  const known = matcher([...fields]);
  const isUnread = matcher(unread);
  return problems.flatMap((problem) => {
    if (isUnread(problem) !== undefined) return [];
    const field = known(problem);
    const place = field === undefined ? undefined : placeOf(field);
    return [place === undefined ? problem : `${place} ${problem}`];
  });
}

/** The name that comes first in a sentence; some sentences begin it with a capital. */
function matcher(names: readonly string[]): (sentence: string) => string | undefined {
  if (names.length === 0) return () => undefined;
  const longestFirst = names
    .toSorted((a, b) => b.length - a.length)
    .map((name) => (WORD.test(name) ? BEGINNING : '') + name.replaceAll('.', String.raw`\.`));
  const pattern = new RegExp(`${edges[0]}(?:${longestFirst.join('|')})${edges[1]}`, 'i');
  const byLowerCase = new Map(names.map((name) => [name.toLowerCase(), name]));
  return (sentence) => byLowerCase.get(pattern.exec(sentence)?.[0].toLowerCase() ?? '');
}
