import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { ConnectionRoom, type ConnectionRoomOptions, peerOf } from './connection-room.ts';

/** Every connection of one listener, and with TLS what is spoken on it. */
export class ListenerConnections {
  readonly #sockets = new Set<Socket>();
  readonly #streams = new Set<Duplex>();
  /** By the addresses of both ends: a TLS connection does not say which socket it is on. */
  readonly #byEnds = new Map<string, Socket>();
  readonly #room: ConnectionRoom<Socket> | undefined;

  /** Without a room all may stay. */
  constructor(room?: ConnectionRoom<Socket>) {
    this.#room = room;
  }

  /** A socket that was accepted. */
  accept(socket: Socket): void {
    // A client may be gone before anything listens.
    socket.on('error', () => {});
    const ends = endsOf(socket);
    this.#sockets.add(socket);
    this.#byEnds.set(ends, socket);
    this.speakOn(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (this.#byEnds.get(ends) === socket) this.#byEnds.delete(ends);
      this.#room?.leave(socket);
    });
    this.#room?.enter(socket, peerOf(socket.remoteAddress));
  }

  /** What is read and written: the socket itself, or TLS on it. */
  speakOn(stream: Duplex): void {
    this.#streams.add(stream);
    stream.once('close', () => this.#streams.delete(stream));
  }

  /** A request on this connection was let in. */
  letIn(stream: Socket): void {
    const socket = this.#byEnds.get(endsOf(stream));
    if (socket !== undefined) this.#room?.letIn(socket);
  }

  get streams(): ReadonlySet<Duplex> {
    return this.#streams;
  }

  destroyAll(): void {
    for (const each of [...this.#streams, ...this.#sockets]) each.destroy();
  }
}

const endsOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;

/** With so much room, and a line in the log where it is too little. */
export function roomFor(
  limits: Pick<ConnectionRoomOptions, 'strangers' | 'guests' | 'strangerMs'>,
  clock: Clock,
  log: Logger,
): ListenerConnections {
  const { strangers, guests } = limits;
  const onCrowded: ConnectionRoomOptions['onCrowded'] = (whose) => {
    if (whose === 'guests') log.warn('connection closed to make room: its client has the most connections', { limit: guests });
    else log.warn('connection closed to make room: too many clients without an allowed request', { limit: strangers });
  };
  return new ListenerConnections(new ConnectionRoom({ ...limits, clock, onCrowded }));
}
