/** What is wrong: the file is not there; it cannot be read; it says something wrong; its certificate has expired; the API server refuses it. */
export type KubeconfigFault = 'missing' | 'unreadable' | 'malformed' | 'expired' | 'untrusted' | 'refused';

/** A kubeconfig that cannot work, in words for people: file, place, context, user. Trying again does not help; changing the file does. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
  readonly fault: KubeconfigFault;

  constructor(fault: KubeconfigFault, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.fault = fault;
  }
}
