import { KubeconfigError } from './kubeconfig-error.ts';
import type { KubeconfigFields } from './parse-kubeconfig.ts';

type Headers = Readonly<Record<string, string | string[]>>;

/** The headers by which a user acts for another: as, as-uid, as-groups, as-user-extra (client-go transport NewImpersonatingRoundTripper). */
export function impersonationOf(user: KubeconfigFields): Headers | undefined {
  const as = user.text('as');
  const extra = user.fields('as-user-extra');
  if (as === undefined) {
    const lonely = ['as-uid', 'as-groups', 'as-user-extra'].find((field) => user.has(field));
    if (lonely === undefined) return undefined;
    throw new KubeconfigError('malformed', `kubeconfig ${user.at(lonely)}: ${lonely}: there is no "as" that says whom to act for`);
  }
  const uid = user.text('as-uid');
  const groups = user.texts('as-groups');
  const header = (field: string, value: string): string => headerValue(value, `kubeconfig ${user.at(field)}: ${field}`);
  return {
    'impersonate-user': header('as', as),
    ...(uid !== undefined && { 'impersonate-uid': header('as-uid', uid) }),
    ...(groups.length > 0 && { 'impersonate-group': groups.map((group) => header('as-groups', group)) }),
    ...Object.fromEntries(
      (extra?.names() ?? []).map((name) => [
        `impersonate-extra-${escapedName(name)}`,
        (extra?.texts(name) ?? []).map((value) => header('as-user-extra', value)),
      ]),
    ),
  };
}

/** Whether a header has several values. Over HTTP/2 undici sends them as one, with commas between them, which to Kubernetes is one group. */
export const hasSeveralValues = (headers: Headers = {}): boolean =>
  Object.values(headers).some((value) => typeof value !== 'string' && value.length > 1);

/** UTF-8, byte for byte, as Go sends it. */
function headerValue(value: string, where: string): string {
  const bytes = Buffer.from(value).toString('latin1');
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(bytes)) return bytes;
  throw new KubeconfigError('malformed', `${where}: holds a character that no header can have`);
}

/** Bytes that no header's name can have, and "%" itself, as "%XX". */
function escapedName(name: string): string {
  const bytes = [...Buffer.from(name)];
  return bytes
    .map((byte) => (isNameByte(byte) ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`))
    .join('');
}

const isNameByte = (byte: number): boolean => /^[!#$&'*+\-.^_`|~0-9A-Za-z]$/.test(String.fromCharCode(byte));
