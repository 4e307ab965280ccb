/**
 * Makes writes to a standard stream wait for its reader again, as they did before Node opened it: other programs that share the pipe and outlive
 * this process would fail while the reader is behind. Node's own exit does this; the agent ends without that.
 */
export function waitForReader(stream: object): void {
  const handle: unknown = '_handle' in stream ? stream._handle : undefined;
  if (typeof handle === 'object' && handle !== null && 'setBlocking' in handle && typeof handle.setBlocking === 'function') {
    handle.setBlocking(true);
  }
}
