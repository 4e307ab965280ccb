import { inspect } from 'node:util';

/** An error and its causes in one line, outermost first; a cause that its wrapper already quotes is not said twice. */
export function errorText(error: unknown): string {
  const parts: string[] = [];
  const seen = new Set<unknown>();
  for (let at: unknown = error; at !== undefined && at !== null && !seen.has(at); at = at instanceof Error ? at.cause : undefined) {
    seen.add(at);
    const text = ownText(at);
    if (!parts.some((part) => part.includes(text))) parts.push(text);
  }
  return parts.join(': ');
}

function ownText(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : inspect(error, { depth: 2, breakLength: Infinity });
  if (error.message !== '') return error.message;
  // A connection that was tried on several addresses says nothing itself.
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors.map(ownText).join(', ') : error.name;
}
