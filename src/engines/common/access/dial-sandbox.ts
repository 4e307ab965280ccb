import type { Duplex } from 'node:stream';
import type { Subscription } from 'rxjs';
import type { Clock } from '../../../base/clock.ts';
import { dialLoopback } from './dial-loopback.ts';
import { NamespaceDialer } from './namespace-dialer.ts';

/** A browser that opens a page through a forwarded port connects again and again; a helper takes 10 MB and 40 ms to start. */
const IDLE_MS = 10_000;

/** A sandbox that runs, and where its network is: the node's own, or that of a process of this machine. */
export interface DialledSandbox {
  readonly id: string;
  readonly network: 'node' | { readonly pid: number };
}

interface InUse {
  readonly dialer: NamespaceDialer;
  readonly pid: number;
  users: number;
  idle: Subscription | undefined;
}

/** Connections into sandboxes, by one helper for each sandbox in use. */
export class SandboxDialers {
  readonly #locate: (sandbox: string, signal: AbortSignal) => Promise<DialledSandbox>;
  readonly #clock: Clock;
  readonly #inUse = new Map<string, InUse>();
  #closed = false;

  /** `locate` rejects, in words for people, when there is no such sandbox or it does not run. */
  constructor(locate: (sandbox: string, signal: AbortSignal) => Promise<DialledSandbox>, clock: Clock) {
    this.#locate = locate;
    this.#clock = clock;
  }

  /** See ContainerAccess.dial. */
  async dial(sandbox: string, port: number, signal: AbortSignal): Promise<Duplex> {
    // As dockershim words it (streamingRuntime.PortForward).
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`invalid port ${port}`);
    const { id, network } = await this.#locate(sandbox, signal);
    if (network === 'node') return dialLoopback(port, signal);
    const entry = this.#entry(id, network.pid);
    entry.users++;
    entry.idle?.unsubscribe();
    try {
      return await entry.dialer.dial(port, signal);
    } finally {
      if (--entry.users === 0) this.#letGo(id, entry);
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
