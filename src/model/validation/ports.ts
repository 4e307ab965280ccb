import type { V1ContainerPort } from '@kubernetes/client-node';
import type { Container, Given } from './given.ts';
import type { FieldErrors } from './field-error.ts';
import { isPortName, isPortNumber } from './formats.ts';

const protocols: readonly string[] = ['SCTP', 'TCP', 'UDP'];

export function validateContainerPorts(ports: readonly Given<V1ContainerPort>[], at: string, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [i, { name = '', containerPort = 0, hostPort = 0, protocol = '' }] of ports.entries()) {
    const here = `${at}[${i}]`;
    if (name !== '') {
      const malformed = isPortName(name);
      errors.invalidEach(`${here}.name`, name, malformed);
      if (malformed.length === 0 && names.has(name)) errors.duplicate(`${here}.name`, name);
      else if (malformed.length === 0) names.add(name);
    }
    if (containerPort === 0) errors.required(`${here}.containerPort`);
    else errors.invalidEach(`${here}.containerPort`, containerPort, isPortNumber(containerPort));
    if (hostPort !== 0) errors.invalidEach(`${here}.hostPort`, hostPort, isPortNumber(hostPort));
    if (protocol === '') errors.required(`${here}.protocol`);
    else if (!protocols.includes(protocol)) errors.notSupported(`${here}.protocol`, protocol, protocols);
  }
}

/** Containers that run at one time cannot share a port of the host. */
export function validateHostPortConflicts(containers: readonly Container[], at: string, errors: FieldErrors): void {
  const taken = new Set<string>();
  for (const [c, { ports = [] }] of containers.entries()) {
    for (const [p, { protocol = '', hostIP = '', hostPort = 0 }] of ports.entries()) {
      if (hostPort === 0) continue;
      const port = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(port)) errors.duplicate(`${at}[${c}].ports[${p}].hostPort`, port);
      else taken.add(port);
    }
  }
}

/** On the host's network a container's port is the host's. */
export function validateHostNetworkPorts(containers: readonly Container[], at: string, errors: FieldErrors): void {
  for (const [c, { ports = [] }] of containers.entries()) {
    for (const [p, { containerPort = 0, hostPort = 0 }] of ports.entries()) {
      if (hostPort === containerPort) continue;
      errors.invalid(`${at}[${c}].ports[${p}].containerPort`, containerPort, 'must match `hostPort` when `hostNetwork` is true');
    }
  }
}
