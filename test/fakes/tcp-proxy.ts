import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';

/** Stands between a client and a server on loopback, and stops forwarding without closing anything when told. */
export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<{ readonly client: Socket; readonly upstream: Socket }>();
  port = 0;
  /** How many connections were made so far. */
  accepted = 0;
  #blocked = false;

  private constructor(target: { readonly host: string; readonly port: number }) {
    this.#server = createServer((client) => {
      this.accepted++;
      if (this.#blocked) {
        client.on('error', () => {}).destroy();
        return;
      }
      const upstream = createConnection(target);
      const pair = { client, upstream };
      this.#pairs.add(pair);
      for (const [from, to] of [[client, upstream] as const, [upstream, client] as const]) {
        from
          .on('error', () => {})
          .on('close', () => {
            to.destroy();
            this.#pairs.delete(pair);
          });
        from.pipe(to);
      }
    });
  }

  static async start(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
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
