const MOST_JUDGED = 1_000;
/** Keys by what was found of them: the answer never changes. */
const judged = new Map<string, boolean>();

const secretWords: ReadonlySet<string> = new Set(
  'auth authorization pass password passwd passphrase passcode pwd token tokens secret secrets credential credentials cookie cookies bearer apikey dockerconfigjson dockercfg'.split(
    ' ',
  ),
);
/** Words that make a key of what comes before "key". */
const keyWords: ReadonlySet<string> = new Set('private api access signing encryption account master'.split(' '));
/** Several words in one, and one with a number: "PGPASSWORD", "clientsecret", "requirepass", "token2". */
const glued =
  /passw(?:or)?d|passphrase|secret|credentials?\d*$|(?<!^(?:by|com|encom|tres|sur|over|under|im))pass\d*$|pwd\d+$|tokens?\d*$|(?:private|api|access|signing|encryption|account|master)key\d*$/;

/** Whether a key's name says that its value is a secret: a word of it, in camelCase, kebab-case or snake_case, is one of a list or ends in one. */
export function looksSecret(key: string): boolean {
  const before = judged.get(key);
  if (before !== undefined) return before;
  const words = key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const is = words.some(
    (word, index) => secretWords.has(word) || glued.test(word) || (word === 'key' && keyWords.has(words[index - 1] ?? '')),
  );
  // Most keys are the agent's own, and few; others come from what it reads, in any number.
  if (judged.size < MOST_JUDGED && key.length < 100) judged.set(key, is);
  return is;
}
