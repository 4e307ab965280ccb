/** A pull that failed because the registry answered 502, 503 or 504: waiting helps, another image name does not (pkg/kubelet/images/types.go). */
export class RegistryUnavailableError extends Error {
  constructor(message = 'RegistryUnavailable', options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = 'RegistryUnavailableError';
  }
}
