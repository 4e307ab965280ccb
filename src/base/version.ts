import { readFileSync } from 'node:fs';

/** Written in by the build; a checkout has its package.json. */
declare const RXLET_VERSION: string | undefined;

/** This release, as package.json has it: "0.1.0". */
export function version(): string {
  if (typeof RXLET_VERSION === 'string') return RXLET_VERSION;
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : 'unknown';
}
