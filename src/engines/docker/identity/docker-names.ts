import { quote } from '../../../model/go-text.ts';
import type { Pod } from '../../../model/pod.ts';
import { SANDBOX_NAME } from '../../../model/sandbox-name.ts';

type PodIdentity = Pick<Pod, 'metadata'>;

/** k8s_POD_NAME_NAMESPACE_UID_ATTEMPT (pkg/kubelet/dockershim/naming.go). */
export function sandboxDockerName(pod: PodIdentity, attempt: number): string {
  return containerDockerName(pod, SANDBOX_NAME, attempt);
}

/** k8s_CONTAINER_NAME_NAMESPACE_UID_ATTEMPT: unique among the attempts of a pod's containers, so the engine refuses a second one. */
export function containerDockerName({ metadata }: PodIdentity, container: string, attempt: number): string {
  return ['k8s', container, metadata.name, metadata.namespace, metadata.uid, String(attempt)].join('_');
}

/** The way out when the engine holds a name for a container that it cannot show. `random` is in [0, 1). */
export function randomizedName(dockerName: string, random: () => number): string {
  return `${dockerName}_${Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0')}`;
}

export interface ParsedDockerName {
  /** "POD" for a sandbox. */
  readonly container: string;
  readonly pod: string;
  readonly namespace: string;
  readonly uid: string;
  readonly attempt: number;
}

/** Reads either kind of name, with or without docker's leading slash and a random last part. Throws an Error that says why not. */
export function parseDockerName(dockerName: string, kind: 'sandbox' | 'container'): ParsedDockerName {
  const name = dockerName.replace(/^\//, '');
  const parts = name.split('_');
  const quoted = quote(name);
  const [prefix, container = '', pod = '', namespace = '', uid = '', attempt = ''] = parts;
  if (parts.length !== 6 && parts.length !== 7) throw new Error(`failed to parse the ${kind} name: ${quoted}`);
  if (prefix !== 'k8s') throw new Error(`container is not managed by kubernetes: ${quoted}`);
  const fault = !/^[0-9]+$/.test(attempt) ? 'invalid syntax' : BigInt(attempt) > 0xffff_ffffn ? 'value out of range' : undefined;
  if (fault !== undefined) {
    throw new Error(`failed to parse the ${kind} name ${quoted}: strconv.ParseUint: parsing ${quote(attempt)}: ${fault}`);
  }
  return { container, pod, namespace, uid, attempt: Number(attempt) };
}
