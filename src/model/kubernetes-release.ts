/** The release of Kubernetes whose command line, config file and rules for them this agent takes. */
export const KUBERNETES_RELEASE = { major: 1, minor: 36, patch: 2 } as const;
