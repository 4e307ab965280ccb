import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { firstOfEachFamily } from './result-addresses.ts';
import { INTERFACE } from './result-cache.ts';

const run = promisify(execFile);

/** The addresses of the interface inside a process's network namespace, IPv4 before IPv6; none where there is no such interface. Rejects when nothing can be asked. */
export async function netnsAddresses(pid: number, signal: AbortSignal): Promise<readonly string[]> {
  const ip = ['ip', '-o', 'addr', 'show', 'dev', INTERFACE, 'scope', 'global'];
  const { stdout } = await run('nsenter', [`--net=/proc/${pid}/ns/net`, '-F', '--', ...ip], { signal });
  return firstOfEachFamily([...stdout.matchAll(/\sinet6?\s+([^/\s]+)/g)].map(([, address]) => address ?? ''));
}
