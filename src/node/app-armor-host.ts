import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AppArmorHost } from '../model/app-armor.ts';
import type { MachinePaths } from '../base/machine-facts.ts';

/** What the kernel and the system say of AppArmor, read each time (pkg/security/apparmor/validate.go). */
export function appArmorHost({ root }: MachinePaths = { root: '/' }): AppArmorHost {
  const at = (path: string): string => join(root, path);
  return {
    get fault() {
      return isEnabled(at) ? undefined : 'AppArmor is not enabled on the host';
    },
    loadedProfiles: () => {
      const lines = readFileSync(at('sys/kernel/security/apparmor/profiles'), 'utf8').split('\n');
      // "NAME (MODE)", where a name may begin with its namespace.
      return new Set(lines.flatMap((line) => /^(.*?)\s*\(/.exec(line)?.[1]?.trim() ?? []));
    },
  };
}

function isEnabled(at: (path: string) => string): boolean {
  if (!existsSync(at('sys/kernel/security/apparmor')) || !existsSync(at('sbin/apparmor_parser'))) return false;
  try {
    return readFileSync(at('sys/module/apparmor/parameters/enabled'), 'utf8').startsWith('Y');
  } catch {
    return false;
  }
}
