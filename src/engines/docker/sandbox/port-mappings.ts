import type { Pod } from '../../../model/pod.ts';
import { portMappings } from '../../../model/port-mappings.ts';

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
