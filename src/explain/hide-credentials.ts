import { hideUrlPasswords, REDACTED } from '../base/hide-url-passwords.ts';
import { looksSecret } from '../base/plain-fields.ts';

/** As JSON, with passwords of URLs and what signs them left out: engines and registries put whole URLs into their errors. */
export function jsonWithoutCredentials(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'string' ? hideCredentials(each) : each));
}

function hideCredentials(text: string): string {
  const withoutPasswords = hideUrlPasswords(text);
  if (!withoutPasswords.includes('=')) return withoutPasswords;
  return withoutPasswords.replace(/([?&])([\w.-]{1,100})=([^&\s"'#]+)/g, (whole, mark: string, name: string) =>
    looksSecret(name) || /sig(nature)?$/i.test(name) ? `${mark}${name}=${REDACTED}` : whole,
  );
}
