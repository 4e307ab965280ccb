import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.ts';

/** How long a client may take to close its half, once the port has closed its own. */
const LINGER_MS = 10_000;

/**
 * Joins a client's stream with a connection to a port, both halves on their own. Resolves when the port sends no more, which is when
 * clients ask for errors; the client may then still send for a while. A connection that breaks resets the client's stream, and the
 * other way round.
 */
export function relayPort(client: Duplex, port: Duplex, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const breakBoth = (): void => {
      port.destroy();
      client.destroy();
    };
    port.on('error', breakBoth);
    client.on('error', breakBoth);
    port.on('end', () => {
      const linger = clock.schedule(breakBoth, LINGER_MS);
      const over = (): void => linger.unsubscribe();
      client.once('end', over);
      client.once('close', over);
      if (client.readableEnded || client.destroyed) over();
      resolve();
    });
    port.on('close', () => {
      // An end that was seen has been handed on.
      if (!port.readableEnded) client.destroy();
      else client.resume();
      resolve();
    });
    client.on('close', () => {
      if (!client.readableEnded || !port.readableEnded) port.destroy();
      resolve();
    });
    client.pipe(port);
    port.pipe(client);
    if (client.destroyed || port.destroyed) {
      breakBoth();
      resolve();
    }
  });
}
