/**
 * Replaces each `$(NAME)` by what `lookup` says; a name that it does not know stays as written, and `$$` stands for one `$`. Values are
 * not expanded again (k8s.io/kubernetes/third_party/forked/golang/expansion, which breaks the UTF-8 of what follows a lone `$`; here it stays
 * whole).
 */
export function expand(text: string, lookup: (name: string) => string | undefined): string {
  if (!text.includes('$')) return text;
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (reference: string, name: string | undefined) =>
    name === undefined ? '$' : (lookup(name) ?? reference),
  );
}

/** A lookup for `expand`: the first map that has the name tells (MappingFuncFor). */
export function lookupIn(...maps: readonly ReadonlyMap<string, string>[]): (name: string) => string | undefined {
  return (name) => maps.find((map) => map.has(name))?.get(name);
}
