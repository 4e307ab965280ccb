import type { StateFile } from '../ports/state-files.ts';

/** Writes a checkpoint where it is another than the one before. */
export class CheckpointWriter<T> {
  readonly #file: Pick<StateFile<T>, 'save'>;
  /** What the file says, or is about to. */
  #saved: string | undefined;

  constructor(file: Pick<StateFile<T>, 'save'>) {
    this.#file = file;
  }

  /** Rejects where it cannot be written. */
  async save(checkpoint: T): Promise<void> {
    const text = JSON.stringify(checkpoint);
    if (text === this.#saved) return;
    this.#saved = text;
    try {
      await this.#file.save(checkpoint);
    } catch (error) {
      this.#saved = undefined;
      throw error;
    }
  }
}
