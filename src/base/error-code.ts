/** What a system call failed with, such as "ENOENT"; undefined where that is not what happened. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** There is no such file, nor a directory that could hold it. */
export function isMissingFile(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
