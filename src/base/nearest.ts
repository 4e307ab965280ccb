/** The candidate that `word` is most likely a slip of, ignoring case; undefined when none is close. For "did you mean". */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  // A third of the letters may be wrong: closer than that is a slip, farther another word.
  let bound = Math.floor(wanted.length / 3) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - wanted.length) >= bound) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bound) {
      bound = distance;
      best = candidate;
    }
  }
  return best;
}

/** The candidate with the smallest share of letters that differ, however many those are; undefined when there are no candidates. */
function closest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bound = Infinity;
  for (const candidate of candidates) {
    const share = editDistance(wanted, candidate.toLowerCase()) / Math.max(wanted.length, candidate.length, 1);
    if (share < bound) {
      bound = share;
      best = candidate;
    }
  }
  return best;
}

/** For a message about a flag that does not exist: which one was meant, or at least comes nearest. Names without dashes. */
export function nearestFlag(name: string, flags: Iterable<string>): string {
  if (!/[a-z]/i.test(name)) return '';
  const known = [...flags];
  const meant = nearest(name, known);
  return meant === undefined ? `; the nearest flag is --${closest(name, known)}` : `; did you mean --${meant}?`;
}

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let value = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + cost);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        value = Math.min(value, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(value);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
