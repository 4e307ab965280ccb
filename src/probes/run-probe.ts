import type { Clock } from '../base/clock.ts';
import type { Container } from '../model/pod.ts';
import type { ContainerAccess } from '../ports/container-access.ts';
import type { ContainerId } from '../ports/container-runtime.ts';
import { execProbe, expandProbeCommand } from './exec-probe.ts';
import { grpcProbe } from './grpc-probe.ts';
import { httpProbe } from './http-probe.ts';
import type { ProbeOutcome } from './probe-outcome.ts';
import { probeHeaders, probePort, probeUrl } from './probe-request.ts';
import { tcpProbe } from './tcp-probe.ts';

export type Probe = NonNullable<Container['livenessProbe']>;

export interface ProbeTarget {
  readonly container: Container;
  readonly id: ContainerId;
  /** Undefined while it has none. */
  readonly podIp: string | undefined;
}

export interface RunProbeDeps {
  readonly clock: Clock;
  readonly access: Pick<ContainerAccess, 'exec'>;
  /** "kube-probe/1.36" */
  readonly userAgent: string;
}

export type RunProbe = (probe: Probe, target: ProbeTarget, signal: AbortSignal) => Promise<ProbeOutcome>;

/** Executes a probe once, whatever its kind (pkg/kubelet/prober). Rejects when it cannot be executed, which says nothing about the container. */
export function probeRunner({ clock, access, userAgent }: RunProbeDeps): RunProbe {
  return async (probe, { container, id, podIp }, signal) => {
    const { exec, httpGet, tcpSocket, grpc, timeoutSeconds } = probe;
    const timeoutMs = Math.max(1, timeoutSeconds ?? 1) * 1000;
    if (exec) return execProbe(access, id, expandProbeCommand(exec.command, container), { clock, timeoutMs }, signal);
    if (httpGet) {
      const url = probeUrl(
        (httpGet.scheme ?? 'HTTP').toLowerCase(),
        hostOr(httpGet.host, podIp),
        probePort(httpGet.port, container),
        httpGet.path ?? '',
      );
      return httpProbe(url, probeHeaders(httpGet.httpHeaders), { clock, timeoutMs, userAgent }, signal);
    }
    if (tcpSocket) {
      return tcpProbe(hostOr(tcpSocket.host, podIp), probePort(tcpSocket.port, container), { clock, timeoutMs }, signal);
    }
    if (grpc) {
      return grpcProbe(
        hostOr(undefined, podIp),
        probePort(grpc.port, container),
        grpc.service ?? '',
        { clock, timeoutMs, userAgent },
        signal,
      );
    }
    throw new Error(`missing probe handler for container ${container.name}`);
  };
}

/** Go takes no host for the machine itself, whose ports are not the pod's. */
function hostOr(host: string | undefined, podIp: string | undefined): string {
  const found = host || podIp;
  if (!found) throw new Error('the pod has no address yet');
  return found;
}
