import { KUBERNETES_VERSION } from './kubernetes-release.ts';

/**
 * A semantic version, as controllers and installers parse it to learn what a node can do: "v1.36.2+rxlet.0.1.0". Our own release is build
 * metadata, as other distributions have it: v1.36.2+x is as new as v1.36.2, while v1.36.2-x would be older than it.
 */
export const kubeletVersion = (release: string): string => `${KUBERNETES_VERSION}+rxlet.${release}`;
