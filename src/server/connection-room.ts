import type { Subscription } from 'rxjs';
import type { Clock } from '../base/clock.ts';

export interface ConnectionRoomOptions {
  /** The most connections of clients of whom nothing is known yet. */
  readonly strangers: number;
  /** The most connections that are let in; more stay strangers. */
  readonly guests: number;
  /** How long a connection may stay a stranger's. Milliseconds; Infinity: for ever. */
  readonly strangerMs: number;
  readonly clock: Pick<Clock, 'schedule'>;
  /** A stranger's connection was closed to make room. */
  readonly onCrowded: () => void;
}

interface Closeable {
  destroy(): unknown;
}

/**
 * The connections of one listener, of which strangers can make only so many: where there is no room, the oldest connection of the peer that
 * has the most strangers gives way to the new one. So a flood crowds out itself, and who comes from elsewhere, or is let in soon, is served.
 */
export class ConnectionRoom<C extends Closeable> {
  readonly #options: ConnectionRoomOptions;
  /** By peer, oldest first; with what closes each in time. */
  readonly #strangers = new Map<string, Map<C, Subscription | undefined>>();
  readonly #peers = new Map<C, string>();
  readonly #guests = new Set<C>();

  constructor(options: ConnectionRoomOptions) {
    this.#options = options;
  }

  get strangerCount(): number {
    return this.#peers.size;
  }

  get guestCount(): number {
    return this.#guests.size;
  }

  /** A new connection. May close another. */
  enter(connection: C, peer: string): void {
    const { strangers, strangerMs, clock, onCrowded } = this.#options;
    const timer = Number.isFinite(strangerMs) ? clock.schedule(() => connection.destroy(), strangerMs) : undefined;
    const own = this.#strangers.get(peer) ?? new Map<C, Subscription | undefined>();
    this.#strangers.set(peer, own.set(connection, timer));
    this.#peers.set(connection, peer);
    if (this.#peers.size <= strangers) return;
    const oldest = this.#oldestOfTheMany();
    if (oldest === undefined) return;
    this.leave(oldest);
    oldest.destroy();
    onCrowded();
  }

  /** Somebody known uses the connection: it stays for as long as it likes. */
  letIn(connection: C): void {
    if (!this.#peers.has(connection) || this.#guests.size >= this.#options.guests) return;
    this.leave(connection);
    this.#guests.add(connection);
  }

  /** The connection is closed. */
  leave(connection: C): void {
    this.#guests.delete(connection);
    const peer = this.#peers.get(connection);
    if (peer === undefined) return;
    this.#peers.delete(connection);
    const own = this.#strangers.get(peer);
    own?.get(connection)?.unsubscribe();
    own?.delete(connection);
    if (own?.size === 0) this.#strangers.delete(peer);
  }

  #oldestOfTheMany(): C | undefined {
    let most: ReadonlyMap<C, unknown> | undefined;
    for (const own of this.#strangers.values()) if (own.size > (most?.size ?? 0)) most = own;
    const [oldest] = most?.keys() ?? [];
    return oldest;
  }
}

/** Who counts as one peer: an IPv4 address, or what one network of IPv6 addresses has in common, as each machine has a whole one. */
export function peerOf(address: string | undefined): string {
  const plain = (address ?? '').replace(/^::ffff:(?=\d+\.)/, '');
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.replace(/%.*/, '').split('::');
  const groups = head === '' ? [] : head.split(':');
  // A gap stands for zeros: only where it begins within the network does it matter.
  const network = tail === undefined ? groups : [...groups, '0', '0', '0', '0'];
  return `${network.slice(0, 4).join(':')}::/64`;
}
