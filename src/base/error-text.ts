/** An error and its causes in one line, outermost first; a cause that its wrapper already quotes is not said twice. */
export function errorText(error: unknown): string {
  const parts: string[] = [];
  for (let at: unknown = error; at !== undefined && at !== null && parts.length < 10; at = at instanceof Error ? at.cause : undefined) {
    const text = at instanceof Error ? at.message || at.name : String(at);
    if (!parts.some((part) => part.includes(text))) parts.push(text);
  }
  return parts.join(': ');
}
