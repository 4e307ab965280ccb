import { isIP } from 'node:net';
import type { FieldErrors } from './field-error.ts';
import { isDns1123Label, isDns1123Subdomain, isUnixId } from './formats.ts';

// Small checks shared by the areas. In all of validation `at` is the path of the value under test.

export const notNegative = 'must be greater than or equal to 0';
export const notPositive = 'must be greater than zero';

export function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Reports each named field of `value` that is missing, an empty string or an empty list. */
export function requireFields<T extends object>(value: T, at: string, errors: FieldErrors, ...names: readonly (keyof T & string)[]): void {
  for (const name of names) if (isEmpty(value[name])) errors.required(`${at}.${name}`);
}

export function validateDns1123Label(value: string, at: string, errors: FieldErrors): void {
  errors.invalidEach(at, value, isDns1123Label(value));
}

export function validateDns1123Subdomain(value: string, at: string, errors: FieldErrors): void {
  errors.invalidEach(at, value, isDns1123Subdomain(value));
}

export function validateNonNegative(value: number | undefined, at: string, errors: FieldErrors): void {
  if (value !== undefined && value < 0) errors.invalid(at, value, notNegative);
}

export function validateUnixId(id: number | undefined, at: string, errors: FieldErrors): void {
  if (id !== undefined) errors.invalidEach(at, id, isUnixId(id));
}

export function validateFileMode(mode: number | undefined, at: string, errors: FieldErrors): void {
  if (mode !== undefined && (mode < 0 || mode > 0o777)) {
    errors.invalid(at, mode, 'must be a number between 0 and 0777 (octal), both inclusive');
  }
}

/** An address as Kubernetes writes them (validation.IsValidIP): no zone, no port, no leading zeros, no address of IPv4 in one of IPv6. */
export function validateIp(ip: string | undefined, at: string, errors: FieldErrors): void {
  const why = wrongWithIp(ip ?? '');
  if (why !== undefined) errors.invalid(at, ip ?? '', why);
}

function wrongWithIp(ip: string): string | undefined {
  const withoutZeros = ip.replace(/(^|[.:])0+(?=\d+(?:\.|$))/g, '$1');
  if (isIP(withoutZeros) === 0 || ip.includes('%')) return 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
  if (isIP(ip) === 0) return 'must not have leading 0s';
  return /^::ffff:/i.test(ip) && isIP(ip) === 6 ? 'must not be an IPv4-mapped IPv6 address' : undefined;
}
