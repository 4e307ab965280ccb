/** A Kubernetes type as it stands in JSON: times are strings, nothing is mutable. Quantities are strings, int-or-strings stay as written. */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer U)[]
    ? readonly Wire<U>[]
    : T extends object
      ? { readonly [K in keyof T]: Wire<T[K]> }
      : T;
