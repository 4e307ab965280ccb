import type { PodSpec } from './given.ts';
import { validateIp } from './checks.ts';
import type { FieldErrors } from './field-error.ts';
import { isDns1123SubdomainWithUnderscore } from './formats.ts';

// What the resolver of libc takes (pkg/apis/core/validation).
const maxNameservers = 3;
const maxSearchPaths = 32;
const maxSearchListChars = 2048;

export function validateDnsConfig({ dnsConfig, dnsPolicy }: PodSpec, at: string, errors: FieldErrors): void {
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  if (dnsPolicy === 'None') {
    if (dnsConfig === undefined) return errors.required(at, 'must provide `dnsConfig` when `dnsPolicy` is None');
    if (nameservers.length === 0) {
      return errors.required(`${at}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None');
    }
  }
  if (nameservers.length > maxNameservers) {
    errors.invalid(`${at}.nameservers`, nameservers, `must not have more than ${maxNameservers} nameservers`);
  }
  for (const [i, nameserver] of nameservers.entries()) validateIp(nameserver, `${at}.nameservers[${i}]`, errors);
  if (searches.length > maxSearchPaths)
    errors.invalid(`${at}.searches`, searches, `must not have more than ${maxSearchPaths} search paths`);
  if (Buffer.byteLength(searches.join(' ')) > maxSearchListChars) {
    const tooMany = `must not have more than ${maxSearchListChars} characters (including spaces) in the search list`;
    errors.invalid(`${at}.searches`, searches, tooMany);
  }
  for (const [i, search] of searches.entries()) {
    if (search === '.') continue;
    const name = search.endsWith('.') ? search.slice(0, -1) : search;
    errors.invalidEach(`${at}.searches[${i}]`, name, isDns1123SubdomainWithUnderscore(name));
  }
  for (const [i, { name = '' }] of options.entries()) {
    if (name === '') errors.required(`${at}.options[${i}]`, 'must not be empty');
  }
}
