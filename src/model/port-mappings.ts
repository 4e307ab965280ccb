import { isIPv6 } from 'node:net';
import type { Container } from './pod.ts';

export interface PortMapping {
  readonly protocol: string;
  readonly containerPort: number;
  /** 0: not on the host. */
  readonly hostPort: number;
  readonly hostIP: string;
}

/** A container's ports; of those with the same name, given or made up from its parts, the first (pkg/kubelet/container MakePortMappings). */
export function portMappings(ports: Container['ports']): PortMapping[] {
  const names = new Set<string>();
  const mappings: PortMapping[] = [];
  for (const port of ports ?? []) {
    const { protocol = '', containerPort, hostPort = 0, hostIP = '' } = port;
    const family = hostIP === '' ? 'any' : isIPv6(hostIP) ? 'v6' : 'v4';
    const name = port.name || `${family}-${protocol}-${hostIP}:${containerPort}:${hostPort}`;
    if (names.has(name)) continue;
    names.add(name);
    mappings.push({ protocol, containerPort, hostPort, hostIP });
  }
  return mappings;
}
