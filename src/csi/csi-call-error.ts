/** A call that did not succeed, in the words in which the kubelet passes on what a driver says. */
export class CsiCallError extends Error {
  override readonly name = 'CsiCallError';
  /** The driver may still be at it, or have done it: the volume counts as there until it says that it is not (pkg/volume/csi isFinalError). */
  readonly isUncertain: boolean;

  constructor(message: string, isUncertain: boolean) {
    super(message);
    this.isUncertain = isUncertain;
  }
}
