import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { requestHandler } from '../../src/server/request-handler.ts';
import type { Route } from '../../src/ports/route.ts';
import { Router } from '../../src/server/router.ts';
import { notTraced } from '../../src/ports/tracing.ts';

/** Routes behind a plain HTTP server of their own, for whoever can connect. */
export interface ServedRoutes {
  readonly url: string;
  close(): Promise<void>;
}

/** On a port of the loopback address, or on the socket at `path`. */
export async function serveRoutes(routes: readonly Route[], path?: string): Promise<ServedRoutes> {
  const stop = new AbortController();
  const handler = requestHandler({
    router: new Router(routes, { debugging: true }),
    access: undefined,
    tell: undefined,
    tracing: notTraced,
    clock: systemClock,
    log: silentLogger,
  });
  const server: Server = createServer((message, response) => void handler.request(message, response, stop.signal));
  server.on('upgrade', (message, socket, head) => {
    void handler.upgrade(message, socket, head, stop.signal);
  });
  if (path === undefined) server.listen(0, '127.0.0.1');
  else server.listen(path);
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${isAddressInfo(address) ? address.port : 0}`,
    close: async () => {
      stop.abort();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const isAddressInfo = (address: AddressInfo | string | null): address is AddressInfo => typeof address === 'object' && address !== null;
