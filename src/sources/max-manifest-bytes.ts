/** The kubelet reads no more of a manifest, be it a file or a response (pkg/kubelet/config/common.go, maxConfigLength). */
export const MAX_MANIFEST_BYTES = 10 * 1024 * 1024;
