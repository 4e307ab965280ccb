import { looksSecret } from './looks-secret.ts';

export const REDACTED = '[redacted]';

/** Before the @ of a URL: a user, or a user and a password with anything in it. What follows a colon may also be a port. */
const inUrl = /(\/\/)(?:([^\s"'@/:[]{0,2000}:)(?!\d{1,5}(?:[/\s"']|$))[^\s"']{0,2000}@|[^\s"'@/:[]{1,2000}@)/g;
const privateKey = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g;
/** To the end of the line: what they hold has words, and signs between them. */
const header = /(?<![\w-])((?:proxy-)?authorization|(?:set-)?cookie)([ \t]{0,4}:[ \t]{0,4})(?!["'\\])([^\r\n"'\\]+)/gi;
/** Letters alone are words of a sentence. */
const scheme = /\b([Bb]earer|[Bb]asic|BEARER|BASIC)([ \t]+)(?=[\w.~+/-]*(?:[\d.~+/=_-]|[a-z][A-Z]))[\w.~+/=-]{6,}/g;

const quoted = String.raw`\\"[^"]*(?:"|$)|"(?:[^"\\]|\\[^]?)*(?:"|$)|'[^']*(?:'|$)`;
/** What ends a value may also be in the midst of it. */
const bare = String.raw`(?:[^\s,;&"'}\])]|[,;}\])](?![\s,;}\])"'.]|$|[\w.-]*[=:]))+`;
const value = new RegExp(String.raw`^(?:\[redacted\]|${quoted}|${bare})`);
/** What comes before a value: "key=", "key: ", `"key": `, "--key ". */
const key = /(?<![\w.-])(?:([\w.-]+)(\\?["'\]]?[ \t]{0,4}(?:=>|:=|[=:]+)[ \t]{0,4})|(--?[\w.-]+)([ \t]+)(?!-))/g;

/** They tell of a credential, and are none: its name, its file, how long it holds. */
const aboutSecrets =
  /(?:names?|refs?|files?|paths?|dir|directory|stdin|type|kind|format|expir\w*|seconds|count|limit|ttl|length|size|version|required|enabled|disabled)$|^(?:OLD)?PWD$/i;
const noSecret = /^(?:\[redacted\]|null|nil|<nil>|none|true|false|yes|no|undefined|empty)$/i;
/** With these begins what is said of a credential. */
const words =
  'required invalid forbidden unsupported duplicate unknown unexpected too must expected not unauthorized denied permission failed failure cannot could unable error errors missing expired empty wrong incorrect bad rejected refused timeout timed context dial get post put patch head delete read open stat the a an is are was were has have may can should will and or in of for from with did does rpc eof status http server authorization authentication this it';
const said = new RegExp(String.raw`^(?:${words.replaceAll(' ', '|')})(?![\w-])`, 'i');
const sentence = /^[a-z][a-z']*[ \t]+["\w(]/i;

/** Most texts have nothing in them that could be one. */
const hint = /auth|bearer|basic|pass|pwd|secret|token|key|credential|cookie|sig(?:nature)?=/i;
export const mayHaveCredentials = (text: string): boolean => text.includes('@') || hint.test(text);

/**
 * A text without what looks like a credential in it: passwords of URLs, users of URLs that may be tokens, what signs a URL, Authorization and
 * Cookie headers, private keys, and values of what is called a password, a secret, a token or the like, in "key=value", "key: value" and
 * "--key value". For all that people read and copy elsewhere. A password that stands there like any other word stays.
 */
export function withoutCredentials(text: string): string {
  if (!mayHaveCredentials(text)) return text;
  return withoutValues(
    text
      .replace(inUrl, (_, slashes: string, user = '') => `${slashes}${user}${REDACTED}@`)
      .replace(privateKey, REDACTED)
      .replace(header, (all, name: string, colon: string, rest: string) =>
        said.test(rest) || noSecret.test(rest.trim()) ? all : `${name}${colon}${REDACTED}`,
      )
      .replace(scheme, `$1$2${REDACTED}`),
  );
}

/** A value may have keys in it that are no keys, and what is not hidden may have some that are. */
function withoutValues(text: string): string {
  let [shown, done] = ['', 0];
  for (const { 0: all, 1: named, 2: sign = '', 3: flag = '', index } of text.matchAll(key)) {
    const name = named ?? flag;
    const at = index + all.length;
    if (index < done || !isSecretName(name, text[index - 1])) continue;
    const rest = text.slice(at);
    const its = value.exec(rest)?.[0] ?? '';
    const isSaid = named === undefined ? said.test(rest) : /[ \t]$/.test(sign) && isProse(name, rest);
    if (its === '' || isSaid || isNoSecret(name, its)) continue;
    shown += text.slice(done, at) + REDACTED;
    done = at + its.length;
  }
  return shown + text.slice(done);
}

/** As JSON, its texts without credentials. */
export function jsonWithoutCredentials(of: unknown): string {
  return JSON.stringify(of, (_, each: unknown) => (typeof each === 'string' ? withoutCredentials(each) : each));
}

/** `before`: the character before the name. */
const isSecretName = (name: string, before: string | undefined): boolean =>
  (looksSecret(name) && !aboutSecrets.test(name)) || ((before === '?' || before === '&') && /(?:sig|signature|^key)$/i.test(name));

/** "tokens=512" counts them. */
const isNoSecret = (name: string, its: string): boolean => noSecret.test(its) || (/s$/i.test(name) && /^\d{1,9}$/.test(its));

/** "token: unexpected status 401". A password may be made of words. */
const isProse = (name: string, rest: string): boolean => said.test(rest) || (!/pass|pwd/i.test(name) && sentence.test(rest));
