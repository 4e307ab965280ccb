import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventEmitter, once } from 'node:events';

/** Stands between a client and a daemon on a unix socket, and breaks what is between them when told. */
export class UnixSocketProxy {
  readonly path: string;
  readonly #directory: string;
  readonly #target: string;
  readonly #connections = new Set<Socket>();
  readonly #refusals = new EventEmitter();
  #server: Server | undefined;
  #cut = false;
  #loseAnswerTo: string | undefined;
  #swallowAnswersTo: string | undefined;

  private constructor(directory: string, target: string) {
    this.#directory = directory;
    this.#target = target;
    this.path = join(directory, 'engine.sock');
  }

  static async start(target: string): Promise<UnixSocketProxy> {
    const proxy = new UnixSocketProxy(await mkdtemp(join(tmpdir(), 'rxlet-proxy-')), target);
    proxy.#server = createServer((client) => proxy.#connect(client)).listen(proxy.path);
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** Drops every connection, and each new one at once. */
  cut(): void {
    this.#cut = true;
    for (const connection of this.#connections) connection.destroy();
  }

  /** Resolves when a connection was refused after the call. */
  async refused(): Promise<void> {
    await once(this.#refusals, 'refused');
  }

  restore(): void {
    this.#cut = false;
  }

  /** The next request that holds `text` reaches the daemon; its answer is lost with the connection. */
  loseAnswerTo(text: string): void {
    this.#loseAnswerTo = text;
  }

  /** Requests that hold `text` reach the daemon, from now on, and nothing of what it answers comes back; the connections stay. */
  swallowAnswersTo(text: string): void {
    this.#swallowAnswersTo = text;
  }

  async close(): Promise<void> {
    this.cut();
    const closed = this.#server && once(this.#server, 'close');
    this.#server?.close();
    await closed;
    await rm(this.#directory, { recursive: true });
  }

  #connect(client: Socket): void {
    if (this.#cut) {
      client.destroy();
      this.#refusals.emit('refused');
      return;
    }
    const daemon = createConnection(this.#target);
    this.#connections.add(client);
    let losing = false;
    let swallowing = false;
    client.on('data', (chunk) => {
      if (this.#swallowAnswersTo !== undefined && chunk.toString('latin1').includes(this.#swallowAnswersTo)) swallowing = true;
      if (this.#loseAnswerTo !== undefined && chunk.toString('latin1').includes(this.#loseAnswerTo)) {
        losing = true;
        this.#loseAnswerTo = undefined;
      }
      daemon.write(chunk);
    });
    daemon.on('data', (chunk) => {
      if (losing) client.destroy();
      else if (!swallowing) client.write(chunk);
    });
    for (const [one, other] of [[client, daemon] as const, [daemon, client] as const]) {
      one.on('error', () => other.destroy());
      one.on('close', () => {
        other.destroy();
        this.#connections.delete(client);
      });
    }
  }
}
