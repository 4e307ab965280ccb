/** What Linux lets a process be given, arguments and environment together (fs/exec.c bprm_stack_limits: three quarters of 8 MiB). */
export const MAX_EXPANDED = 6 * 1024 * 1024;

/**
 * Replaces each `$(NAME)` by what `lookup` says; a name that it does not know stays as written, and `$$` stands for one `$`. Values are
 * not expanded again (k8s.io/kubernetes/third_party/forked/golang/expansion, which breaks the UTF-8 of what follows a lone `$`; here it stays
 * whole). Throws when the result would have more than `room` characters: of variables that name others twice, thirty fill all memory.
 */
export function expand(text: string, lookup: (name: string) => string | undefined, room = MAX_EXPANDED): string {
  let at = text.indexOf('$');
  if (at < 0) return text;
  // Behind the last one no name ends: it is looked for once, not from each dollar on.
  const lastClose = text.lastIndexOf(')');
  const parts: string[] = [];
  let taken = 0;
  let size = 0;
  for (; at >= 0; at = text.indexOf('$', taken)) {
    const isName = text[at + 1] === '(' && at < lastClose;
    const end = isName ? text.indexOf(')', at) + 1 : at + (text[at + 1] === '$' ? 2 : 1);
    const value = isName ? (lookup(text.slice(at + 2, end - 1)) ?? text.slice(at, end)) : '$';
    parts.push(text.slice(taken, at), value);
    size += at - taken + value.length;
    if (size > room)
      throw new Error(`what refers to variables expands to more than ${MAX_EXPANDED} characters: no process can be given that much`);
    taken = end;
  }
  return parts.join('') + text.slice(taken);
}

/** Each of these, all together within the bound. Throws as `expand` does. */
export function expandAll(texts: readonly string[], lookup: (name: string) => string | undefined): readonly string[] {
  let room = MAX_EXPANDED;
  return texts.map((text) => {
    const whole = expand(text, lookup, room);
    room -= whole.length;
    return whole;
  });
}

/** A lookup for `expand`: the first map that has the name tells (MappingFuncFor). */
export function lookupIn(...maps: readonly ReadonlyMap<string, string>[]): (name: string) => string | undefined {
  return (name) => maps.find((map) => map.has(name))?.get(name);
}

/** A subPathExpr: every variable must be there. Throws in words (pkg/kubelet/container ExpandContainerVolumeMounts). */
export function expandSubPath(expression: string, env: ReadonlyMap<string, string>): string {
  return expand(expression, (name) => {
    const value = env.get(name);
    if (value !== undefined) return value;
    throw new Error(`subPathExpr "${expression}": missing value for "${name}"`);
  });
}
