/** Text in lines of at most `width` characters, broken at blanks where there are some; all but the first begin with `indent`. */
export function wrapped(text: string, width: number, indent: string): readonly string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const start = lines.length === 0 ? (/^\s*/.exec(rest)?.[0].length ?? 0) : indent.length;
    const blank = rest.lastIndexOf(' ', width);
    const at = blank > start ? blank : width;
    lines.push(rest.slice(0, at));
    rest = indent + rest.slice(at).trimStart();
  }
  return [...lines, rest];
}
