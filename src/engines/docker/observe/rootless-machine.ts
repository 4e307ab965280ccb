import { getuid } from 'node:process';
import { readTextFile } from '../../../base/read-text-file.ts';
import type { RootlessMachine } from './rootless-limits.ts';

/** As the kernel has it unless it is set. */
const FIRST_OPEN_PORT = 1024;
/** What Podman mounts for those who are in the network of an ordinary user's pods lies in a directory of this name. */
const PODS_NETWORK = /\/rootless-netns\//;

/** What this process may do here. */
export async function thisMachine(): Promise<Omit<RootlessMachine, 'cgroups'>> {
  const read = (path: string): Promise<string> => readTextFile(path).catch(() => '');
  const firstOpenPort = await read('/proc/sys/net/ipv4/ip_unprivileged_port_start');
  return {
    agentIsRoot: getuid?.() === 0,
    firstOpenPort: firstOpenPort === '' ? FIRST_OPEN_PORT : Number(firstOpenPort),
    reachesPods: PODS_NETWORK.test(await read('/proc/self/mountinfo')),
  };
}
