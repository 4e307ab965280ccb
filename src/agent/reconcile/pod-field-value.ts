import type { V1ObjectFieldSelector } from '@kubernetes/client-node';
import { extractFieldPath, splitSubscript } from '../../model/field-path.ts';
import type { Pod } from '../../model/pod.ts';
import { knownFieldPaths } from '../../model/validation/downward-api.ts';
import type { Wire } from '../../model/wire.ts';

export interface PodFieldFacts {
  /** The pod's addresses, primary first; asked for only where they are needed. */
  readonly podIps: () => Promise<readonly string[]>;
  readonly hostIp: string | undefined;
}

/** A field of the pod as a variable's value (podFieldSelectorRuntimeValue in pkg/kubelet/kubelet_pods.go). */
export async function podFieldValue(
  pod: Pod,
  { apiVersion = '', fieldPath }: Wire<V1ObjectFieldSelector>,
  { podIps, hostIp }: PodFieldFacts,
): Promise<string> {
  const path = internalFieldPath(apiVersion, fieldPath);
  switch (path) {
    case 'spec.nodeName':
      return pod.spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return pod.spec.serviceAccountName ?? '';
    case 'status.hostIP':
      return hostIp ?? '';
    case 'status.podIP':
      return (await podIps())[0] ?? '';
    case 'status.podIPs':
      return (await podIps()).join(',');
    default:
      return extractFieldPath(pod, path);
  }
}

/** pkg/apis/core/pods ConvertDownwardAPIFieldLabel. */
function internalFieldPath(apiVersion: string, path: string): string {
  if (apiVersion !== 'v1') throw new Error(`unsupported pod version: ${apiVersion}`);
  const split = splitSubscript(path);
  if (split !== undefined) {
    if (split.path === 'metadata.annotations' || split.path === 'metadata.labels') return path;
    throw new Error(`field label does not support subscript: ${path}`);
  }
  if (path === 'spec.host') return 'spec.nodeName';
  if (!knownFieldPaths.has(path)) throw new Error(`field label not supported: ${path}`);
  return path;
}
