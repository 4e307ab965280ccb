/** What a path leads to that is no regular file. */
export class NoFileError extends Error {
  override readonly name = 'NoFileError';
  /** "a directory" */
  readonly found: string;

  constructor(found: string) {
    super(`it is ${found}, not a file`);
    this.found = found;
  }
}
