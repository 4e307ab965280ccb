import type { Subscription } from 'rxjs';
import type { Clock } from '../base/clock.ts';

export interface ConnectionRoomOptions {
  /** The most connections of clients of whom nothing is known yet. */
  readonly strangers: number;
  /** The most connections that are let in; more stay strangers, or take the place of a peer's that has many. */
  readonly guests: number;
  /** How long a connection may stay a stranger's. Milliseconds; Infinity: for ever. */
  readonly strangerMs: number;
  readonly clock: Pick<Clock, 'schedule'>;
  /** A connection of one of these was closed to make room. */
  readonly onCrowded: (whose: 'strangers' | 'guests') => void;
}

interface Closeable {
  destroy(): unknown;
}

/** Connections by peer, oldest first. */
class Crowd<C> {
  readonly #byPeer = new Map<string, Set<C>>();
  readonly #peers = new Map<C, string>();

  get size(): number {
    return this.#peers.size;
  }

  peerOf(connection: C): string | undefined {
    return this.#peers.get(connection);
  }

  countOf(peer: string): number {
    return this.#byPeer.get(peer)?.size ?? 0;
  }

  add(connection: C, peer: string): void {
    this.#byPeer.set(peer, (this.#byPeer.get(peer) ?? new Set()).add(connection));
    this.#peers.set(connection, peer);
  }

  delete(connection: C): void {
    const peer = this.#peers.get(connection);
    if (peer === undefined) return;
    this.#peers.delete(connection);
    const own = this.#byPeer.get(peer);
    own?.delete(connection);
    if (own?.size === 0) this.#byPeer.delete(peer);
  }

  /** The oldest one of the peer that has the most; undefined where none has more than `least`. */
  oldestOfTheMany(least = 0): C | undefined {
    let most: ReadonlySet<C> | undefined;
    for (const own of this.#byPeer.values()) if (own.size > Math.max(least, most?.size ?? 0)) most = own;
    const [oldest] = most ?? [];
    return oldest;
  }
}

/**
 * The connections of one listener, of which strangers can make only so many: where there is no room, the oldest connection of the peer that
 * has the most strangers gives way to the new one. So a flood crowds out itself, and who comes from elsewhere, or is let in soon, is served.
 * Those that are let in share their room in the same way: a client that may read metrics must not keep an API server out of exec.
 */
export class ConnectionRoom<C extends Closeable> {
  readonly #options: ConnectionRoomOptions;
  readonly #strangers = new Crowd<C>();
  readonly #guests = new Crowd<C>();
  /** What closes strangers in time. */
  readonly #timers = new Map<C, Subscription>();

  constructor(options: ConnectionRoomOptions) {
    this.#options = options;
  }

  get strangerCount(): number {
    return this.#strangers.size;
  }

  get guestCount(): number {
    return this.#guests.size;
  }

  /** A new connection. May close another. */
  enter(connection: C, peer: string): void {
    const { strangers, strangerMs, clock } = this.#options;
    if (Number.isFinite(strangerMs))
      this.#timers.set(
        connection,
        clock.schedule(() => connection.destroy(), strangerMs),
      );
    this.#strangers.add(connection, peer);
    if (this.#strangers.size > strangers) this.#close(this.#strangers.oldestOfTheMany(), 'strangers');
  }

  /**
   * A known user has the connection: it stays for as long as it likes. Where there is no room it takes the place of one of a peer that has
   * more of them, or else stays a stranger's.
   */
  letIn(connection: C): void {
    const peer = this.#strangers.peerOf(connection);
    if (peer === undefined) return;
    if (this.#guests.size >= this.#options.guests) {
      // With one more, this peer still has no more than the other has left.
      const oldest = this.#guests.oldestOfTheMany(this.#guests.countOf(peer) + 1);
      if (oldest === undefined) return;
      this.#close(oldest, 'guests');
    }
    this.leave(connection);
    this.#guests.add(connection, peer);
  }

  /** The connection is closed. */
  leave(connection: C): void {
    this.#timers.get(connection)?.unsubscribe();
    this.#timers.delete(connection);
    this.#strangers.delete(connection);
    this.#guests.delete(connection);
  }

  #close(connection: C | undefined, whose: 'strangers' | 'guests'): void {
    if (connection === undefined) return;
    this.leave(connection);
    connection.destroy();
    this.#options.onCrowded(whose);
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
