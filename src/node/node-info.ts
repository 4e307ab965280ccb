import { goArch } from '../base/go-arch.ts';
import { kubeletVersion } from '../model/kubelet-version.ts';
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
