import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../base/error-text.ts';
import type { Logger } from '../base/logger.ts';

/** What a kubelet wants of the kernel (pkg/kubelet/cm setupKernelTunables): path below /proc/sys → value. */
const wanted: ReadonlyMap<string, string> = new Map([
  ['vm/overcommit_memory', '1'],
  ['vm/panic_on_oom', '0'],
  ['kernel/panic', '10'],
  ['kernel/panic_on_oops', '1'],
  ['kernel/keys/root_maxkeys', '1000000'],
  ['kernel/keys/root_maxbytes', '25000000'],
]);

export interface KernelDefaultsDeps {
  /** Where /proc is. */
  readonly root: string;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/**
 * Sees to the kernel's settings that pods rely on, as `protectKernelDefaults` says: true refuses others, false sets them, undefined leaves them.
 * Rejects with all that are refused; one that cannot be read or set is logged.
 */
export async function keepKernelDefaults(protect: boolean | undefined, { root, log }: KernelDefaultsDeps): Promise<void> {
  if (protect === undefined) return;
  const refused: string[] = [];
  for (const [path, value] of wanted) {
    const file = join(root, 'proc/sys', path);
    const setting = path.replaceAll('/', '.');
    try {
      const found = (await readFile(file, 'utf8')).trim();
      if (found === value) continue;
      if (protect) refused.push(`invalid kernel flag: ${path}, expected value: ${value}, actual value: ${found}`);
      else {
        await writeFile(file, value);
        log.info('kernel setting changed, as protectKernelDefaults is false', { setting, from: found, to: value });
      }
    } catch (error) {
      log.warn('kernel setting neither checked nor changed', { setting, wanted: value, error: errorText(error) });
    }
  }
  if (refused.length > 0)
    throw new Error(`protectKernelDefaults (--protect-kernel-defaults): ${refused.join('; ')}: set them with sysctl, or set it to false`);
}
