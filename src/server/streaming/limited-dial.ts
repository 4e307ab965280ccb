import type { Duplex } from 'node:stream';

/** Has connections made as `dial` makes them, so many at a time; rejects at once while there are as many. */
export type LimitedDial = (dial: () => Promise<Duplex>) => Promise<Duplex>;

/** For all clients together: each of them may open thousands of streams on one connection, and each stream costs a file. */
export function limitedDial(most: number): LimitedDial {
  let open = 0;
  return async (dial) => {
    if (open >= most) throw new Error(`too many ports are being forwarded: ${open} connections are open, which is the limit`);
    open++;
    const closed = (): void => void open--;
    let connection: Duplex;
    try {
      connection = await dial();
    } catch (error) {
      closed();
      throw error;
    }
    if (connection.closed) closed();
    else connection.once('close', closed);
    return connection;
  };
}
