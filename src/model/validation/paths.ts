import type { FieldErrors } from './field-error.ts';

/** Whether an element of the path is `..`. */
export function hasBacksteps(path: string): boolean {
  return path.includes('..') && path.split('/').includes('..');
}

export function validatePathNoBacksteps(path: string, at: string, errors: FieldErrors): void {
  if (hasBacksteps(path)) errors.invalid(at, path, "must not contain '..'");
}

/** A path that stays below the directory it is joined to. */
export function validateLocalDescendingPath(path: string, at: string, errors: FieldErrors): void {
  if (path.startsWith('/')) errors.invalid(at, path, 'must be a relative path');
  validatePathNoBacksteps(path, at, errors);
}

/** The same, and it leaves alone the `..data` names that the atomic writer uses. */
export function validateLocalNonReservedPath(path: string, at: string, errors: FieldErrors): void {
  validateLocalDescendingPath(path, at, errors);
  if (path.startsWith('..') && !path.startsWith('../')) errors.invalid(at, path, "must not start with '..'");
}
