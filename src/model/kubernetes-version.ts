/** The release of Kubernetes whose kubelet this agent stands for. */
export const KUBERNETES_VERSION = 'v1.30.0';
