import type { Duplex } from 'node:stream';
import type { Subscription } from 'rxjs';
import type { Clock } from '../../../base/clock.ts';
import { dialLoopback } from './dial-loopback.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { NamespaceDialer } from './namespace-dialer.ts';
import { runningContainer } from '../client/running-container.ts';

/** A browser that opens a page through a forwarded port connects again and again; a helper takes 10 MB and 40 ms to start. */
const IDLE_MS = 10_000;

interface InUse {
  readonly dialer: NamespaceDialer;
  readonly pid: number;
  users: number;
  idle: Subscription | undefined;
}

/** Connections into sandboxes, by one helper for each sandbox in use. */
export class SandboxDialers {
  readonly #client: EngineClient;
  readonly #clock: Clock;
  readonly #inUse = new Map<string, InUse>();
  #closed = false;

  constructor(client: EngineClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** See ContainerAccess.dial. */
  async dial(sandbox: string, port: number, signal: AbortSignal): Promise<Duplex> {
    // As dockershim words it (streamingRuntime.PortForward).
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`invalid port ${port}`);
    const { Id, State, HostConfig } = await runningContainer(this.#client, sandbox, signal);
    if (HostConfig.NetworkMode === 'host') return dialLoopback(port, signal);
    const entry = this.#entry(Id, State.Pid);
    entry.users++;
    entry.idle?.unsubscribe();
    try {
      return await entry.dialer.dial(port, signal);
    } finally {
      if (--entry.users === 0) this.#letGo(Id, entry);
    }
  }

  /** Ends the helpers. Connections that have been made live on. */
  close(): void {
    this.#closed = true;
    for (const [id, entry] of this.#inUse) this.#drop(id, entry);
  }

  #entry(id: string, pid: number): InUse {
    const found = this.#inUse.get(id);
    if (found && found.pid === pid && !found.dialer.ended) return found;
    if (found) this.#drop(id, found);
    const entry: InUse = { dialer: new NamespaceDialer(pid), pid, users: 0, idle: undefined };
    this.#inUse.set(id, entry);
    return entry;
  }

  #letGo(id: string, entry: InUse): void {
    if (this.#closed || entry.dialer.ended) this.#drop(id, entry);
    else entry.idle = this.#clock.schedule(() => this.#drop(id, entry), IDLE_MS);
  }

  #drop(id: string, entry: InUse): void {
    entry.idle?.unsubscribe();
    entry.dialer.close();
    if (this.#inUse.get(id) === entry) this.#inUse.delete(id);
  }
}
