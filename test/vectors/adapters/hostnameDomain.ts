import { kernelHostname } from '../../../src/model/kernel-hostname.ts';
import { type PodHostname, podHostname } from '../../../src/network/pod-hostname.ts';
import { aPod } from '../../builders/a-pod.ts';

interface Input {
  readonly name: string;
  readonly namespace?: string;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly setHostnameAsFQDN?: boolean;
  readonly clusterDomain?: string;
}

export function run({ name, namespace = '', clusterDomain = '', hostname = '', subdomain = '', setHostnameAsFQDN }: Input): object {
  let names: PodHostname;
  try {
    const { metadata, spec } = aPod(name);
    names = podHostname({ metadata: { ...metadata, name, namespace }, spec: { ...spec, hostname, subdomain } }, clusterDomain);
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error), step: 'generate' };
  }
  try {
    return { ...names, nodename: kernelHostname(names.hostname, names.domain, setHostnameAsFQDN) };
  } catch (error) {
    return { ...names, error: error instanceof Error ? error.message : String(error), step: 'nodename' };
  }
}
