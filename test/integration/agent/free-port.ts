import { once } from 'node:events';
import { createServer } from 'node:net';

/** From here to the ports that the kernel gives to connections; those of a test cluster are further up. */
const FIRST = 11_000;
const COUNT = 8_000;

/** A port that nobody listens on, on any address, and that no connection is given. Other test processes begin elsewhere. `besides` is one that will be taken. */
export async function freePort(besides?: number): Promise<number> {
  for (let step = 0; step < COUNT; step++) {
    const port = FIRST + ((process.pid * 17 + step) % COUNT);
    if (port === besides) continue;
    const server = createServer().listen(port);
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error(`all ports from ${FIRST} on are taken`);
}
