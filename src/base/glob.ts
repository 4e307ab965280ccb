/** A pattern's parts; `ranges` are inclusive code points. */
type Part = 'any run' | 'any character' | { readonly negated: boolean; readonly ranges: readonly (readonly [number, number])[] };

/** Go's path/filepath.Match for one label: `*`, `?`, `[a-z]`, `[^a]` and backslash escapes. A malformed pattern matches nothing. */
export function globMatches(pattern: string, text: string): boolean {
  const parts = parseGlob(pattern);
  if (parts === undefined) return false;
  const characters = Array.from(text, (c) => c.codePointAt(0) ?? 0);
  const SLASH = 0x2f;
  // Walks back to the last run only: what an earlier one took can always be left as it is.
  let part = 0;
  let at = 0;
  let retry: { part: number; at: number } | undefined;
  while (part < parts.length || at < characters.length) {
    const wanted = parts[part];
    const character = characters[at];
    if (wanted === 'any run') {
      retry = { part, at };
      part++;
      continue;
    }
    if (wanted !== undefined && character !== undefined && accepts(wanted, character)) {
      part++;
      at++;
      continue;
    }
    if (retry === undefined || retry.at >= characters.length || characters[retry.at] === SLASH) return false;
    retry = { part: retry.part, at: retry.at + 1 };
    part = retry.part + 1;
    at = retry.at;
  }
  return true;

  function accepts(wanted: Exclude<Part, 'any run'>, character: number): boolean {
    if (wanted === 'any character') return character !== SLASH;
    return wanted.ranges.some(([low, high]) => low <= character && character <= high) !== wanted.negated;
  }
}

function parseGlob(pattern: string): readonly Part[] | undefined {
  const source = Array.from(pattern);
  const parts: Part[] = [];
  let at = 0;
  const codePoint = (): number | undefined => source[at++]?.codePointAt(0);
  /** One end of a range: a dash or a bracket stands there only behind a backslash. */
  const rangeEnd = (): number | undefined => {
    if (source[at] === '-' || source[at] === ']') return undefined;
    if (source[at] === '\\') at++;
    return codePoint();
  };
  while (at < source.length) {
    const character = source[at];
    if (character === '*' || character === '?') {
      at++;
      parts.push(character === '*' ? 'any run' : 'any character');
    } else if (character === '[') {
      at++;
      const negated = source[at] === '^';
      if (negated) at++;
      const ranges: (readonly [number, number])[] = [];
      while (source[at] !== ']' || ranges.length === 0) {
        const low = rangeEnd();
        let high = low;
        if (source[at] === '-') {
          at++;
          high = rangeEnd();
        }
        if (low === undefined || high === undefined) return undefined;
        ranges.push([low, high]);
      }
      at++;
      parts.push({ negated, ranges });
    } else {
      if (character === '\\') at++;
      const literal = codePoint();
      if (literal === undefined) return undefined;
      parts.push({ negated: false, ranges: [[literal, literal]] });
    }
  }
  return parts;
}
