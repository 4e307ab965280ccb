import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { getuid } from 'node:process';
import { abortable } from '../../../base/abortable.ts';
import { dialError } from './dial-loopback.ts';

/**
 * What runs inside the network namespace, as plain text so that it needs no file: connects, and hands the open connection over to this
 * process. Reads nothing from it, and ends when this process has ended, however that came.
 */
const HELPER = `
const { connect } = require('node:net');
const dial = (n, port, hosts, first) => {
  const socket = connect({ host: hosts[0], port, allowHalfOpen: true }).pause();
  const failed = (error) => {
    const code = first || error.code || error.message;
    if (hosts.length > 1) dial(n, port, hosts.slice(1), code);
    else process.send({ n, code });
  };
  socket.once('error', failed).once('connect', () => {
    socket.off('error', failed).on('error', () => {});
    process.send({ n }, socket, () => {});
  });
};
process.on('message', ({ n, port }) => dial(n, port, ['127.0.0.1', '::1']));
process.on('disconnect', () => process.exit());
`;

/** The helper needs next to nothing: the rest is memory that it would take in good times. */
const NODE_FLAGS = ['--max-old-space-size=16', '--max-semi-space-size=1', '--single-threaded', '--input-type=commonjs'];
const MAX_COMPLAINT = 1_000;

interface Waiting {
  readonly port: number;
  readonly resolve: (socket: Socket) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Connects to ports in the network namespace of another process. This one cannot enter it, but a helper can, and an open connection may
 * move between processes: once made, it is this process's own, and the helper may go.
 */
export class NamespaceDialer {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #count = 0;
  #complaint = '';
  #ended: Error | undefined;

  /** `pid`: a process in the namespace, seen from this one's. */
  constructor(pid: number) {
    // An ordinary user may enter networks of his user namespaces only, from within these.
    const user = getuid?.() === 0 ? [] : [`--user=/proc/${pid}/ns/user`, '--preserve-credentials'];
    const args = [...user, `--net=/proc/${pid}/ns/net`, '--', process.execPath, ...NODE_FLAGS, '-e', HELPER];
    // Without an environment of its own: NODE_OPTIONS is meant for the agent.
    this.#child = spawn('nsenter', args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], env: { PATH: process.env['PATH'] } });
    this.#child.stderr?.on('data', (text: Buffer) => {
      this.#complaint = (this.#complaint + text.toString()).slice(0, MAX_COMPLAINT);
    });
    this.#child.on('message', (message, handle) => this.#answered(message, handle));
    this.#child.once('error', (error) => this.#end(new Error(`cannot run nsenter: ${error.message}`, { cause: error })));
    this.#child.once('close', (code, signal) =>
      this.#end(new Error(`nsenter ended (${code ?? signal}): ${this.#complaint.trim() || 'without a word'}`)),
    );
    // An idle helper keeps no process alive.
    this.#child.unref();
    this.#child.channel?.unref();
  }

  /** The helper has gone: make another one. */
  get ended(): boolean {
    return this.#ended !== undefined;
  }

  dial(port: number, signal: AbortSignal): Promise<Socket> {
    if (this.#ended) return Promise.reject(this.#ended);
    return abortable(signal, (resolve, reject) => {
      const n = this.#count++;
      this.#waiting.set(n, { port, resolve, reject });
      this.#child.channel?.ref();
      this.#child.send({ n, port }, (error) => {
        if (error) this.#waiting.get(n)?.reject(error);
      });
      return () => {
        this.#waiting.delete(n);
        if (this.#waiting.size === 0) this.#child.channel?.unref();
      };
    });
  }

  /** Connections that it has made live on. */
  close(): void {
    this.#end(new Error('the dialer was closed'));
    if (this.#child.connected) this.#child.disconnect();
    this.#child.stderr?.destroy();
  }

  #answered(message: unknown, handle: unknown): void {
    if (typeof message !== 'object' || message === null || !('n' in message) || typeof message.n !== 'number') return;
    const waiting = this.#waiting.get(message.n);
    if (handle instanceof Socket) {
      handle.allowHalfOpen = true;
      if (waiting) waiting.resolve(handle);
      else handle.destroy();
    } else {
      // A connection that was closed on its way arrives as nothing.
      const code = 'code' in message && typeof message.code === 'string' ? message.code : 'ECONNRESET';
      waiting?.reject(dialError(waiting.port, code));
    }
  }

  #end(why: Error): void {
    this.#ended ??= why;
    for (const { reject } of this.#waiting.values()) reject(why);
  }
}
