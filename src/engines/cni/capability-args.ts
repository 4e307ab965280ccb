import type { JsonObject } from '../../base/json-object.ts';
import type { Pod } from '../../model/pod.ts';
import { portMappings } from '../../model/port-mappings.ts';
import { Quantity } from '../../model/quantity.ts';

/** No limit in practice: the plugin wants a burst along with a rate (pkg/kubelet/dockershim/network/cni). */
const MAX_BURST = 2 ** 31 - 1;
const [minRate, maxRate] = [Quantity.parse('1k').value(), Quantity.parse('1P').value()];

/** What plugins may ask of the runtime about a pod, by capability. Throws when an annotation of the pod is no rate. */
export function capabilityArgs({ metadata, spec }: Pod): JsonObject {
  const mapped = spec.containers
    .flatMap(({ ports }) => portMappings(ports))
    .filter(({ hostPort }) => hostPort > 0)
    .map(({ hostPort, containerPort, protocol, hostIP }) => ({ hostPort, containerPort, protocol: portProtocol(protocol), hostIP }));
  const bandwidth = bandwidthArgs(metadata.annotations ?? {});
  return { portMappings: mapped, ...(bandwidth && { bandwidth }) };
}

const portProtocol = (protocol: string): string => (protocol === 'UDP' || protocol === 'SCTP' ? protocol.toLowerCase() : 'tcp');

function bandwidthArgs(annotations: Readonly<Record<string, string>>): JsonObject | undefined {
  try {
    const ingress = rate(annotations['kubernetes.io/ingress-bandwidth']);
    const egress = rate(annotations['kubernetes.io/egress-bandwidth']);
    if (ingress === undefined && egress === undefined) return undefined;
    return {
      ...(ingress !== undefined && { ingressRate: ingress, ingressBurst: MAX_BURST }),
      ...(egress !== undefined && { egressRate: egress, egressBurst: MAX_BURST }),
    };
  } catch (cause) {
    throw new Error(`failed to get pod bandwidth from annotations: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Bits a second (pkg/util/bandwidth validateBandwidthIsReasonable). */
function rate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const bits = Quantity.parse(text).value();
  if (bits < minRate) throw new Error('resource is unreasonably small (< 1kbit)');
  if (bits > maxRate) throw new Error('resoruce is unreasonably large (> 1Pbit)');
  return Number(bits);
}
