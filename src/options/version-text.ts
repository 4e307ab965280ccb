import { basename } from 'node:path';
import { KUBERNETES_VERSION } from '../model/kubernetes-release.ts';

/**
 * What `--version` prints, without the line's end. Installed under the name of the kubelet it is one: installers (kubeadm's preflight) read
 * "Kubernetes v1.36.2" and nothing beside it. `invokedAs` is the program as it was called, with or without a directory.
 */
export function versionText(invokedAs: string, release: string): string {
  return basename(invokedAs) === 'kubelet' ? `Kubernetes ${KUBERNETES_VERSION}` : `rxlet v${release}`;
}
