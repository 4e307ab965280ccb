import { isIPv6 } from 'node:net';
import type { Container, Pod } from '../model/pod.ts';

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

export interface PortBindings {
  readonly ExposedPorts: Record<string, object>;
  readonly PortBindings: Record<string, { readonly HostIp: string; readonly HostPort: string }[]>;
}

/** What the sandbox publishes on the host for all of the pod's app containers (pkg/kubelet/dockershim makePortsAndBindings). */
export function portBindings({ spec }: Pick<Pod, 'spec'>): PortBindings {
  const result: PortBindings = { ExposedPorts: {}, PortBindings: {} };
  for (const { protocol, containerPort, hostPort, hostIP } of spec.containers.flatMap((c) => portMappings(c.ports))) {
    if (hostPort === 0) continue;
    const port = `${containerPort}/${protocol === 'UDP' || protocol === 'SCTP' ? protocol.toLowerCase() : 'tcp'}`;
    result.ExposedPorts[port] = {};
    (result.PortBindings[port] ??= []).push({ HostIp: hostIP, HostPort: String(hostPort) });
  }
  return result;
}
