const HIDDEN = '…';
const MOST = 40;

/** What follows these is a password or the like, in "key=value", "key: value", `"key": "value"` and "--key value". */
const names = String.raw`pass(?:w(?:or)?d|phrase)?|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credentials?`;
const quoted = String.raw`\\?"[^"]*(?:"|$)|'[^']*(?:'|$)|[^\s,;&"'}\])]+`;
const patterns: readonly (readonly [RegExp, string])[] = [
  // A user, or a user and a password, of a URL. A password may have anything in it.
  [/(\b[a-z][a-z0-9+.-]{0,40}:\/\/)(?:[^\s"'@/]{0,200}:[^\s"']{0,200}@|[^\s"'@/]{0,200}@)/gi, `$1${HIDDEN}@`],
  [/\b(bearer|basic)(\s+)[\w.~+/=-]{6,}/gi, `$1$2${HIDDEN}`],
  [new RegExp(String.raw`((?:${names})[\w.-]{0,${MOST}}\\?["']?\s{0,4}[=:]\s{0,4})(?:${quoted})`, 'gi'), `$1${HIDDEN}`],
  [new RegExp(String.raw`(--?[\w.-]{0,${MOST}}(?:${names})[\w.-]{0,${MOST}}\s{1,4})(?!-)(?:${quoted})`, 'gi'), `$1${HIDDEN}`],
];

/**
 * A text without what looks like a password in it: users of URLs, Authorization headers, values of what is called a password, a secret, a token
 * or a key. For what people copy elsewhere; a password that looks like any other word stays.
 */
export function withoutCredentials(text: string): string {
  return patterns.reduce((all, [is, instead]) => all.replace(is, instead), text);
}
