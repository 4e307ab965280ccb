import { dirname, resolve } from 'node:path';
import { configFields } from './config-fields.ts';
import type { Settings } from './settings.ts';

/** Relative paths start at the file's directory (pkg/kubelet/kubeletconfig/configfiles). */
export function resolvePaths(settings: Settings, file: string): Settings {
  return new Map(
    [...settings].map(([path, value]) => {
      const isRelative = configFields.get(path)?.isPath === true && typeof value === 'string' && value !== '' && !value.startsWith('/');
      return [path, isRelative ? resolve(dirname(file), value) : value];
    }),
  );
}
