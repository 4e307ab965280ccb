import type { Logger } from '../base/logger.ts';
import { formatManifestFault, type ManifestFault, type ManifestWarning } from '../model/manifest-fault.ts';

/** More are no help, and each is a line of the log: a manifest can have a million. */
const MAX_LOGGED = 50;

/** Logs what is wrong with a manifest, line by line. `keeps`: what its fault leaves as it was. */
export function logFaults(log: Logger, where: string, faults: readonly ManifestFault[], keeps: string): void {
  for (const fault of faults.slice(0, MAX_LOGGED)) log.error('manifest refused', { fault: formatManifestFault(where, fault), keeps });
  if (faults.length > MAX_LOGGED) log.error('manifest refused for more faults', { manifest: where, more: faults.length - MAX_LOGGED });
}

/** Logs what does no harm but is hardly meant. */
export function logWarnings(log: Logger, where: string, warnings: readonly ManifestWarning[]): void {
  for (const warning of warnings.slice(0, MAX_LOGGED)) {
    log.warn('manifest warning', { warning: formatManifestFault(where, warning) });
  }
  if (warnings.length > MAX_LOGGED) log.warn('more manifest warnings', { manifest: where, more: warnings.length - MAX_LOGGED });
}
