import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { errorCode } from '../../../base/error-code.ts';
import { type DnsConfig, formatResolvConf } from '../../../model/resolv-conf.ts';

/**
 * Writes over the file that the engine made for a sandbox, and with it for all containers that join the sandbox's network: what the
 * engine itself makes of DNS settings is not theirs (pkg/kubelet/dockershim rewriteResolvFile). Settings that say nothing leave it as it is.
 */
export async function rewriteSandboxResolvConf(path: string, dns: DnsConfig): Promise<void> {
  const text = formatResolvConf(dns);
  if (path === '' || text === undefined) return;
  // Only what exists: containers have the file mounted, so that another one in its place would not be theirs.
  const file = await open(path, constants.O_WRONLY | constants.O_TRUNC).catch((cause: unknown) => {
    throw errorCode(cause) === 'ENOENT' ? new Error(`ResolvConfPath ${JSON.stringify(path)} does not exist`) : cause;
  });
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}
