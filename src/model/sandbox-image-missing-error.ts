/** The engine lacks the image that sandboxes are made of, and does not pull it itself: pull it and run the sandbox again. */
export class SandboxImageMissingError extends Error {
  readonly image: string;

  /** `words` are the engine's. */
  constructor(pod: string, image: string, words: string, options?: ErrorOptions) {
    super(`failed to create a sandbox for pod ${JSON.stringify(pod)}: ${words}`, options);
    this.name = 'SandboxImageMissingError';
    this.image = image;
  }
}
