import type { V1WindowsSecurityContextOptions } from '@kubernetes/client-node';
import type { Given } from './given.ts';
import type { FieldErrors } from './field-error.ts';
import { isDns1123Subdomain } from './formats.ts';

const maxSpecKiB = 64;
const maxDomainLength = 256;
const maxUserLength = 104;

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const controls = /[\x00-\x1f\x7f]/;
const netBiosDomain = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/u;
const dnsLabel = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const dnsDomain = new RegExp(`^${dnsLabel}(?:\\.${dnsLabel})*$`);
const dotsAndSpaces = /^[. ]+$/;
const reservedInUsers = /["/\\:;|=,+*?<>@[\]]/;

/** Kept for manifests that name them: a Linux node does nothing with these. */
export function validateWindowsOptions(options: Given<V1WindowsSecurityContextOptions> | undefined, at: string, errors: FieldErrors): void {
  if (options === undefined) return;
  const { gmsaCredentialSpecName: specName, gmsaCredentialSpec: spec, runAsUserName } = options;
  if (specName !== undefined) errors.invalidEach(`${at}.gmsaCredentialSpecName`, specName, isDns1123Subdomain(specName));
  if (spec === '') errors.invalid(`${at}.gmsaCredentialSpec`, spec, 'gmsaCredentialSpec cannot be an empty string');
  else if (spec !== undefined && Buffer.byteLength(spec) > maxSpecKiB * 1024) {
    errors.invalid(`${at}.gmsaCredentialSpec`, spec, `gmsaCredentialSpec size must be under ${maxSpecKiB} KiB`);
  }
  if (runAsUserName === undefined) return;
  for (const why of wrongWithUserName(runAsUserName)) errors.invalid(`${at}.runAsUserName`, runAsUserName, `runAsUserName${why}`);
}

function wrongWithUserName(name: string): readonly string[] {
  const parts = name.split('\\');
  if (name === '') return [' cannot be an empty string'];
  if (controls.test(name)) return [' cannot contain control characters'];
  if (parts.length > 2) return [' cannot contain more than one backslash'];
  const user = parts.at(-1) ?? '';
  const domain = parts.length === 2 ? (parts[0] ?? '') : undefined;
  return [...(domain === undefined ? [] : wrongWithDomain(domain)), ...wrongWithUser(user)].map((why) => `'s ${why}`);
}

function* wrongWithDomain(domain: string): Generator<string, void> {
  if (Buffer.byteLength(domain) >= maxDomainLength) yield `Domain length must be under ${maxDomainLength} characters`;
  if (!netBiosDomain.test(domain) && !dnsDomain.test(domain)) yield "Domain doesn't match the NetBios nor the DNS format";
}

function* wrongWithUser(user: string): Generator<string, void> {
  if (user === '') yield 'User cannot be empty';
  else if (Buffer.byteLength(user) > maxUserLength) yield `User length must not be longer than ${maxUserLength} characters`;
  if (dotsAndSpaces.test(user)) yield 'User cannot contain only periods or spaces';
  if (reservedInUsers.test(user)) yield 'User cannot contain the following characters: "/\\:;|=,+*?<>@[]';
}
