export const REDACTED = '[redacted]';

/** Text with what is before the @ of its URLs left out, but for the name of who has a password. */
export function hideUrlPasswords(text: string): string {
  return text.includes('@') ? text.replace(/\/\/([^/\s]+)@/g, (_, user: string) => `//${withoutPassword(user)}@`) : text;
}

/** A user without a password may be a token. */
function withoutPassword(user: string): string {
  const colon = user.indexOf(':');
  return colon < 0 ? REDACTED : `${user.slice(0, colon)}:${REDACTED}`;
}
