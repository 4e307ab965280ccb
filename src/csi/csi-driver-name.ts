import { isDns1123Subdomain } from '../model/validation/formats.ts';

/** Of a driver's name, which labels and paths are made of (pkg/volume/csi/csi_plugin.go, the specification's GetPluginInfo). */
const LONGEST_NAME = 63;

/** Directories of another use, beside those of the drivers (pkg/volume/csi). */
const RESERVED: ReadonlySet<string> = new Set(['volumedevices', 'pv']);

/** Why a driver cannot have this name; undefined: it can. A name that can is one part of a path, and none that leads elsewhere. */
export function driverNameFault(name: string): string | undefined {
  if (name === '') return 'the driver has no name';
  if (name.length > LONGEST_NAME) return `the driver's name has ${name.length} characters, of at most ${LONGEST_NAME}`;
  if (isDns1123Subdomain(name.toLowerCase()).length > 0) {
    return `the driver's name ${JSON.stringify(name)} is no domain name (letters, digits, '-' and single '.')`;
  }
  return RESERVED.has(name.toLowerCase()) ? `the driver's name ${name} is that of a directory of the node's own` : undefined;
}

/** "v1.2.3", "1.0", "1.0.0-rc1": what comes before is another protocol, and what comes after may be. */
const isVersion1 = (version: string): boolean => /^v?1(?:\.\d+){0,2}(?:[-+].*)?$/.test(version.trim());

/** Why none of these versions of CSI is spoken here; undefined: one is. */
export function versionsFault(versions: readonly string[]): string | undefined {
  if (versions.length === 0) return 'the driver names no versions of CSI';
  return versions.some(isVersion1) ? undefined : `none of the driver's versions of CSI (${versions.slice(0, 8).join(', ')}) is 1.x`;
}
