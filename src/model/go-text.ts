// Go's ideas of text where they differ from JavaScript's.

const edgeSpace =
  /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g;

/** strings.TrimSpace: cuts U+0085 and keeps U+FEFF, unlike String.prototype.trim. */
export function trimSpace(text: string): string {
  return text.replace(edgeSpace, '');
}
