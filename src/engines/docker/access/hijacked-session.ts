import { Readable, Writable, type Duplex } from 'node:stream';
import type { ContainerSession, StreamsWanted } from '../../../ports/container-access.ts';
import { demux } from '../client/demux.ts';

/** What may wait in an output for its reader before the engine is asked to pause. */
const OUTPUT_BUFFER_BYTES = 256 << 10;

export interface Hijacked {
  /** The connection after the engine gave it over. An abort of `signal` has to destroy it. */
  readonly connection: Duplex;
  readonly wanted: StreamsWanted;
  /** Raw bytes for stdout instead of frames. */
  readonly raw: boolean;
  readonly signal: AbortSignal;
  readonly resize: ContainerSession['resize'];
  /** Asked once the outputs have ended. */
  readonly exitCode: () => Promise<number | undefined>;
}

/** A process's streams on one connection to the engine, with back-pressure both ways. */
export function hijackedSession({ connection, wanted, raw, signal, resize, exitCode }: Hijacked): ContainerSession {
  const output = (): Readable => {
    const stream = new Readable({ read: () => connection.resume(), highWaterMark: OUTPUT_BUFFER_BYTES });
    // `ended` tells of a broken connection; a reader need not know.
    return stream.on('error', () => {});
  };
  const stdout = wanted.stdout ? output() : undefined;
  const stderr = wanted.stderr && !raw ? output() : undefined;
  const outputs = [stdout, stderr].filter((stream) => stream !== undefined);
  const push = (stream: Readable | undefined, bytes: Buffer): void => {
    if (stream && !stream.destroyed && !stream.push(bytes)) connection.pause();
  };
  const take = raw ? (chunk: Buffer): void => push(stdout, chunk) : demux((of, bytes) => push(of === 'stdout' ? stdout : stderr, bytes));

  const over = new Promise<void>((resolve, reject) => {
    let ended = false;
    let fault: Error | undefined;
    connection.on('data', (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        connection.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    });
    connection.once('end', () => {
      ended = true;
      for (const stream of outputs) stream.push(null);
      // The other end no longer reads.
      connection.destroy();
      resolve();
    });
    connection.on('error', (error) => {
      fault = error;
    });
    connection.once('close', () => {
      if (ended) return;
      const why = signal.aborted ? signal.reason : new Error('the connection to the container broke', { cause: fault });
      for (const stream of outputs) stream.destroy(why instanceof Error ? why : new Error(String(why)));
      reject(why);
    });
  });
  const ended = over.then(exitCode);
  // A session that is not waited for may break as well.
  ended.catch(() => {});
  return { stdin: wanted.stdin ? input(connection) : undefined, stdout, stderr, resize, ended };
}

/** The connection's other direction. Its end is the process's end of input; when the process has gone it closes without an error. */
function input(connection: Duplex): Writable {
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (connection.write(chunk)) done();
      else connection.once('drain', done);
    },
    final: (done) => {
      connection.end();
      done();
    },
    destroy: (_error, done) => {
      if (!connection.writableEnded) connection.end();
      done(null);
    },
    decodeStrings: true,
    highWaterMark: OUTPUT_BUFFER_BYTES,
  });
  connection.once('close', () => stream.destroy());
  return stream;
}
