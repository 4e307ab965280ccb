import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

interface Target {
  readonly host: string;
  readonly port: number;
}

interface Pace {
  readonly bytes: number;
  readonly everyMs: number;
}

/** Stands between a client and a server on loopback, and stops forwarding without closing anything when told. */
export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<{ readonly client: Socket; readonly upstream: Socket }>();
  port = 0;
  /** How many connections were made so far. */
  accepted = 0;
  #blocked = false;

  private constructor(target: Target, pace: Pace | undefined) {
    this.#server = createServer((client) => {
      this.accepted++;
      if (this.#blocked) {
        client.on('error', () => {}).destroy();
        return;
      }
      const upstream = createConnection(target);
      const pair = { client, upstream };
      this.#pairs.add(pair);
      client
        .on('error', () => {})
        .on('close', () => {
          upstream.destroy();
          this.#pairs.delete(pair);
        });
      // A server that has said all of it may close long before the last of it has trickled to the client.
      upstream.on('error', () => {}).on('close', () => (pace ? undefined : client.destroy()));
      client.pipe(upstream);
      if (pace) void trickle(upstream, client, pace);
      else upstream.pipe(client);
    });
  }

  /** With `pace` what the server says comes in pieces, at that rate whatever the pieces in which it was read. */
  static async start(target: Target, pace?: Pace): Promise<TcpProxy> {
    const proxy = new TcpProxy(target, pace);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    proxy.port = (proxy.#server.address() as AddressInfo).port;
    return proxy;
  }

  /** The connections that there are forward nothing any more, and stay open; what comes is read and dropped. New ones work. */
  silence(): void {
    for (const { client, upstream } of this.#pairs) {
      client.unpipe(upstream).on('data', () => {});
      upstream.unpipe(client).on('data', () => {});
    }
  }

  /** Drops every connection, and each new one at once, until `unblock`. */
  block(): void {
    this.#blocked = true;
    this.cut();
  }

  unblock(): void {
    this.#blocked = false;
  }

  /** Drops every connection. */
  cut(): void {
    for (const { client } of this.#pairs) client.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((done) => this.#server.close(done));
  }
}

async function trickle(from: Socket, to: Socket, { bytes, everyMs }: Pace): Promise<void> {
  try {
    for await (const chunk of from.iterator({ destroyOnReturn: false })) {
      for (let at = 0; at < chunk.length && !to.destroyed; at += bytes) {
        const piece = chunk.subarray(at, at + bytes);
        to.write(piece);
        await sleep((everyMs * piece.length) / bytes);
      }
    }
  } catch {
    // Whoever broke it off has been told already.
  }
  to.end();
}
