/**
 * Lets writing to a standard stream wait for its reader again, as before Node opened it. Whoever shares the pipe, and goes on after this process,
 * would otherwise fail where the reader is behind. Node does so in its own exit, which the agent does without.
 */
export function waitForReader(stream: object): void {
  const handle: unknown = '_handle' in stream ? stream._handle : undefined;
  if (typeof handle === 'object' && handle !== null && 'setBlocking' in handle && typeof handle.setBlocking === 'function') {
    handle.setBlocking(true);
  }
}
