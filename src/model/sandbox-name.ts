/** What a pod's sandbox is called where it stands among containers (pkg/kubelet/leaky PodInfraContainerName). */
export const SANDBOX_NAME = 'POD';
