/** `Valid options are "a", "b" or "c"` */
export function unknownWord(value: string, words: readonly string[], setting: string): string {
  const quoted = words.map((word) => JSON.stringify(word));
  return `option ${JSON.stringify(value)} specified for ${setting}. Valid options are ${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}
