/** "file:line:column " or "file: ", after the name of the file, which may hold the same. */
const PLACE = /:(?:(\d+):(\d+))? /g;

/**
 * What is wrong, as people go through it: what begins with "flag", then what has a place in a file, file by file and line by line, then the rest.
 * `files`: their paths as they stand in "file:line:column …" and "file: …", in the order in which they count.
 */
export function inFileOrder(problems: readonly string[], files: readonly string[]): readonly string[] {
  const numbers = new Map(files.map((file, number) => [file, number]));
  const placed: { readonly problem: string; readonly place: Place }[] = [];
  const ofFlags: string[] = [];
  const others: string[] = [];
  for (const problem of problems) {
    const place = placeIn(problem, numbers);
    if (place) placed.push({ problem, place });
    else if (problem.startsWith('flag ')) ofFlags.push(problem);
    else others.push(problem);
  }
  const sorted = placed.toSorted(({ place: a }, { place: b }) => a.file - b.file || a.line - b.line || a.column - b.column);
  return [...ofFlags, ...sorted.map(({ problem }) => problem), ...others];
}

interface Place {
  readonly file: number;
  readonly line: number;
  readonly column: number;
}

function placeIn(problem: string, numbers: ReadonlyMap<string, number>): Place | undefined {
  for (const { index, 1: line = 0, 2: column = 0 } of problem.matchAll(PLACE)) {
    const file = numbers.get(problem.slice(0, index));
    if (file !== undefined) return { file, line: Number(line), column: Number(column) };
  }
  return undefined;
}
