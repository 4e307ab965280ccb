import { errorCode } from '../base/error-code.ts';

/** For a rejected file operation: what went away meanwhile is undefined, all else is thrown again. */
export function unlessMissing(error: unknown): undefined {
  if (errorCode(error) === 'ENOENT') return undefined;
  throw error;
}
