/**
 * The release of Kubernetes whose kubelet this agent stands for: its command line, config file and rules, and what the Node, the metrics
 * and `kubelet --version` say. API servers take a kubelet of their own minor release and up to three older ones.
 */
export const KUBERNETES_RELEASE = { major: 1, minor: 36, patch: 2 } as const;

const { major, minor, patch } = KUBERNETES_RELEASE;

/** "v1.36.2" */
export const KUBERNETES_VERSION = `v${major}.${minor}.${patch}` as const;

/** "1.36", as probes and hooks name themselves. */
export const KUBERNETES_MINOR = `${major}.${minor}` as const;
