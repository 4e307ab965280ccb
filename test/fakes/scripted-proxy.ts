import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';

/** What it does with those who ask: connects them, says nothing, or answers with these bytes and hangs up. */
export type ProxyMood = 'connects' | 'is silent' | { readonly says: string | Uint8Array };

/** An HTTP and SOCKS5 proxy on loopback: whatever it is asked for, it connects to one port. Wants the user and the password that it is given, or none. */
export class ScriptedProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #user: string | undefined;
  mood: ProxyMood = 'connects';
  /** Where it was asked to connect to: "api.example:6443". */
  readonly asked: string[] = [];
  port = 0;

  private constructor(targetPort: number, user: string | undefined) {
    this.#user = user;
    this.#server = createServer((client) => {
      this.#keep(client);
      this.#serve(client, targetPort).catch(() => client.destroy());
    });
  }

  /** `user`: "name:password". */
  static async start(targetPort: number, user?: string): Promise<ScriptedProxy> {
    const proxy = new ScriptedProxy(targetPort, user);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    proxy.port = (proxy.#server.address() as AddressInfo).port;
    return proxy;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
  }

  async #serve(client: Socket, targetPort: number): Promise<void> {
    const bytes = reader(client);
    const first = await bytes(1);
    if (this.mood === 'is silent') return;
    if (this.mood !== 'connects') {
      client.end(this.mood.says);
      return;
    }
    const accept = first[0] === 5 ? await this.#socks(client, bytes) : await this.#http(client, first, bytes);
    if (accept === undefined) return;
    const upstream = createConnection(targetPort, '127.0.0.1');
    this.#keep(upstream);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    await once(upstream, 'connect');
    client.write(accept);
    client.pipe(upstream).pipe(client);
  }

  /** What to say once connected. */
  async #http(client: Socket, first: Buffer, bytes: Reader): Promise<string | undefined> {
    let head = first.toString();
    while (!head.endsWith('\r\n\r\n')) head += (await bytes(1)).toString('latin1');
    const wanted = this.#user && `Basic ${Buffer.from(this.#user).toString('base64')}`;
    if (/^Proxy-Authorization: (.*)\r$/m.exec(head)?.[1] !== wanted) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return undefined;
    }
    this.asked.push(/^CONNECT (\S+) /.exec(head)?.[1] ?? head);
    return 'HTTP/1.1 200 Connection established\r\n\r\n';
  }

  async #socks(client: Socket, bytes: Reader): Promise<Buffer | undefined> {
    const [count = 0] = await bytes(1);
    const methods = [...(await bytes(count))];
    const method = this.#user === undefined ? 0 : 2;
    client.write(Buffer.of(5, methods.includes(method) ? method : 255));
    if (!methods.includes(method)) return undefined;
    if (this.#user !== undefined) {
      await bytes(1);
      const user = [await counted(bytes), await counted(bytes)].join(':');
      client.write(Buffer.of(1, user === this.#user ? 0 : 1));
      if (user !== this.#user) return undefined;
    }
    const [, , , kind] = await bytes(4);
    const host = kind === 3 ? await counted(bytes) : kind === 1 ? [...(await bytes(4))].join('.') : (await bytes(16)).toString('hex');
    this.asked.push(`${host}:${(await bytes(2)).readUInt16BE()}`);
    return Buffer.of(5, 0, 0, 1, 127, 0, 0, 1, 0, 80);
  }
}

type Reader = (size: number) => Promise<Buffer>;

function reader(socket: Socket): Reader {
  let left = Buffer.alloc(0);
  return async (size) => {
    while (left.length < size) {
      const bytes = socket.read() as Buffer | null;
      if (bytes === null)
        await Promise.race([once(socket, 'readable'), once(socket, 'close').then(() => Promise.reject(new Error('the client is gone')))]);
      else left = Buffer.concat([left, bytes]);
    }
    const taken = left.subarray(0, size);
    left = left.subarray(size);
    return taken;
  };
}

async function counted(bytes: Reader): Promise<string> {
  const [length = 0] = await bytes(1);
  return (await bytes(length)).toString();
}
