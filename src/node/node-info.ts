import { KUBERNETES_VERSION } from '../model/kubernetes-version.ts';
import { goArch } from '../base/go-arch.ts';
import type { NodeSystemInfo } from '../model/node.ts';

/** What the node runs on. */
export interface VersionFacts {
  readonly kernelVersion: string;
  readonly osImage: string;
  /** "docker://20.10.24", or undefined when the engine has not said. */
  readonly containerRuntimeVersion: string | undefined;
  /** This agent's release: "0.1.0". */
  readonly release: string;
  /** Node's name for the processor: "x64". */
  readonly arch: string;
}

/**
 * A semantic version, as controllers and installers parse it to learn what a node can do. Our own release is build metadata, as other
 * distributions have it: v1.30.0+x is as new as v1.30.0, while v1.30.0-x would be older than it.
 */
export const kubeletVersion = (release: string): string => `${KUBERNETES_VERSION}+rxlet.${release}`;

/** status.nodeInfo but for the machine's ids (pkg/kubelet/nodestatus/setters.go VersionInfo, GoRuntime). No kube-proxy is known of, as newer kubelets say. */
export function versionInfo(facts: VersionFacts): Omit<NodeSystemInfo, 'machineID' | 'systemUUID' | 'bootID'> {
  return {
    kernelVersion: facts.kernelVersion,
    osImage: facts.osImage,
    containerRuntimeVersion: facts.containerRuntimeVersion ?? 'docker://Unknown',
    kubeletVersion: kubeletVersion(facts.release),
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: goArch(facts.arch),
  };
}
