import type { Subscription } from 'rxjs';
import { aborted } from '../../base/aborted.ts';
import { type PortForwardDeps, portForwardFailure } from './port-forward-deps.ts';
import { parsePort, portRequestId, portStreamFault } from './port-forward-streams.ts';
import { relayPort } from './relay-port.ts';
import type { SpdyConnection } from '../../base/spdy/spdy-connection.ts';
import type { SpdyStream } from '../../base/spdy/spdy-stream.ts';
import type { SpdyUse } from './spdy-upgrade.ts';

/** A forwarded connection whose second stream has not come yet. */
interface HalfPair {
  readonly error: SpdyStream | undefined;
  readonly data: SpdyStream | undefined;
  readonly timer: Subscription;
}

/** Two streams for each forwarded connection. */
const MAX_STREAMS = 4_096;
const STREAM_BUFFER_BYTES = 64 * 1024;

/** Makes forwarded connections of the streams that one client opens: two for each, one for data and one for what goes wrong. */
export class PortForwardPairs {
  /** How the client's SPDY connection has to treat its streams. */
  readonly use: SpdyUse;
  readonly #deps: PortForwardDeps;
  readonly #over = new AbortController();
  readonly #waiting = new Map<string, HalfPair>();

  constructor(deps: PortForwardDeps) {
    this.#deps = deps;
    this.use = {
      maxStreams: MAX_STREAMS,
      streamBufferBytes: STREAM_BUFFER_BYTES,
      accepts: (headers) => {
        const fault = portStreamFault(headers);
        if (fault !== undefined) deps.log.v(2, 'forwarded stream refused', { error: fault });
        return fault === undefined;
      },
      onStream: (stream) => this.#add(stream),
    };
  }

  /** Until the client has gone or `stop` aborts. Resolves when the client's connection is closed, and those to the pod are on their way out. */
  async serve(connection: SpdyConnection, stop: AbortSignal): Promise<void> {
    await aborted(AbortSignal.any([stop, connection.over]));
    this.#over.abort(new Error('the client has gone'));
    for (const [id, pair] of this.#waiting) this.#forget(id, pair);
    await connection.close();
  }

  #add(stream: SpdyStream): void {
    const id = portRequestId(stream);
    const type = stream.headers.get('streamtype') === 'error' ? 'error' : 'data';
    // What a client writes there is not read; its end has to be seen.
    if (type === 'error') stream.resume();
    const before = this.#waiting.get(id);
    if (before?.[type] !== undefined) {
      this.#refuse(stream, before.error, `error processing stream for request ${id}: ${type} stream already assigned`);
      return;
    }
    const error = type === 'error' ? stream : before?.error;
    const data = type === 'data' ? stream : before?.data;
    if (before !== undefined) this.#forget(id, before);
    if (error !== undefined && data !== undefined) void this.#forward(error, data);
    else this.#wait(id, error, data);
  }

  #wait(id: string, error: SpdyStream | undefined, data: SpdyStream | undefined): void {
    const { clock, streamCreationTimeoutMs } = this.#deps;
    const timer = clock.schedule(() => {
      this.#waiting.delete(id);
      this.#deps.log.v(2, 'forwarded connection incomplete', { requestId: id });
      error?.end(`(request=${id}) timed out waiting for streams`);
      data?.destroy();
    }, streamCreationTimeoutMs);
    this.#waiting.set(id, { error, data, timer });
  }

  #refuse(stream: SpdyStream, error: SpdyStream | undefined, message: string): void {
    this.#deps.log.v(2, 'forwarded stream refused', { error: message });
    error?.write(message);
    stream.destroy();
  }

  async #forward(error: SpdyStream, data: SpdyStream): Promise<void> {
    const { pod, clock, log } = this.#deps;
    const port = parsePort(data.headers.get('port') ?? '') ?? 0;
    try {
      await relayPort(data, await this.#deps.dial(port, this.#over.signal), clock);
      error.end();
    } catch (cause) {
      if (this.#over.signal.aborted) return;
      log.v(2, 'port not forwarded', { port, error: cause });
      error.end(portForwardFailure(port, pod, cause));
      data.resume().end();
    }
  }

  #forget(id: string, pair: HalfPair): void {
    pair.timer.unsubscribe();
    this.#waiting.delete(id);
  }
}
