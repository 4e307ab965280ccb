/**
 * The engine's runtime for a RuntimeClass's handler. "docker" is no runtime of an engine but dockershim's name for its default
 * (pkg/kubelet/dockershim/docker_sandbox.go), which clusters made for it still name.
 */
export const runtimeOfHandler = (handler: string | undefined): string | undefined => (handler === 'docker' ? undefined : handler);
