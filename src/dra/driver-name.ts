import { isDns1123Subdomain } from '../model/validation/formats.ts';

/** DriverNameMaxLength in k8s.io/api/resource/v1 */
const LONGEST_NAME = 63;

/**
 * Why the API has nothing of a driver of this name, neither claims nor ResourceSlices; undefined: it may. No name that may is more than a name
 * where it is part of a selector.
 */
export function driverNameFault(name: string): string | undefined {
  if (name.length > LONGEST_NAME) return `the driver's name has ${name.length} characters, of at most ${LONGEST_NAME}`;
  if (isDns1123Subdomain(name.toLowerCase()).length === 0) return undefined;
  return `the driver's name ${JSON.stringify(name)} is no domain name (letters, digits, '-' and single '.')`;
}
