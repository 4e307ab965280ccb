import { addAbortSignal, Readable } from 'node:stream';
import Docker from 'dockerode';
import type { Clock } from '../base/clock.ts';
import { engineEndpointForms, parseEngineEndpoint } from '../model/engine-endpoint.ts';
import type { OnEngineCall } from '../ports/observers.ts';
import { EngineAgent } from './engine-agent.ts';
import { classifyEngineError, EngineDeadlineError } from './engine-errors.ts';

/** The kubelet's --runtime-request-timeout. */
export const defaultRequestTimeoutMs = 120_000;

/** Longer timers fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface EngineCall {
  /** "POST /containers/ID/start": the call as errors and diagnoses name it. */
  readonly what: string;
  readonly sinceMs: number;
}

/**
 * The only door to the Docker engine. Every call ends: by its answer, its deadline, its signal or a broken connection.
 * It rejects with EngineResponseError, EngineUnavailableError, EngineDeadlineError or the signal's reason.
 */
export interface EngineClient {
  /** The deadline for calls that have no reason for another one, in milliseconds. */
  readonly requestTimeoutMs: number;
  /**
   * Runs one engine call. `request` passes its signal on to dockerode as `abortSignal`, so that an abort or a missed deadline also
   * drops the connection: `call('GET /containers/ID/json', ms, signal, (docker, abortSignal) => docker.getContainer(ID).inspect({ abortSignal }))`.
   */
  call<T>(
    what: string,
    deadlineMs: number,
    signal: AbortSignal,
    request: (docker: Docker, abortSignal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** As `call` for an endless answer: the deadline is for its beginning, an abort of `signal` destroys the stream for as long as it lives. */
  open<S extends NodeJS.ReadableStream>(
    what: string,
    deadlineMs: number,
    signal: AbortSignal,
    request: (docker: Docker, abortSignal: AbortSignal) => Promise<S>,
  ): Promise<S>;
  /** Calls without an answer yet, oldest first: names what is stuck. */
  pendingCalls(): readonly EngineCall[];
  /** Drops idle connections. */
  close(): void;
}

export interface EngineClientOptions {
  /** unix://PATH or tcp://HOST:PORT */
  readonly endpoint: string;
  readonly clock: Clock;
  readonly requestTimeoutMs?: number;
  /** Told of each call's end. */
  readonly onCall?: OnEngineCall;
}

export function engineClient({ endpoint, clock, requestTimeoutMs = defaultRequestTimeoutMs, onCall }: EngineClientOptions): EngineClient {
  const agent = new EngineAgent();
  const options: Docker.DockerOptions & { readonly agent: EngineAgent } = { ...connection(endpoint), agent };
  const docker = new Docker(options);
  const pending = new Set<EngineCall>();

  const call: EngineClient['call'] = async (what, deadlineMs, signal, request) => {
    signal.throwIfAborted();
    const own = new AbortController();
    const onAbort = (): void => own.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const deadline = clock.schedule(() => own.abort(new EngineDeadlineError(what, deadlineMs)), Math.min(deadlineMs, MAX_TIMER_MS));
    const entry: EngineCall = { what, sinceMs: clock.now() };
    pending.add(entry);
    let failed: 'error' | 'timeout' | undefined;
    try {
      return await Promise.race([request(docker, own.signal), rejection(own.signal)]);
    } catch (error) {
      if (!signal.aborted) failed = own.signal.aborted ? 'timeout' : 'error';
      if (own.signal.aborted) throw own.signal.reason;
      throw classifyEngineError(what, endpoint, error);
    } finally {
      deadline.unsubscribe();
      signal.removeEventListener('abort', onAbort);
      pending.delete(entry);
      onCall?.({ what, tookMs: clock.now() - entry.sinceMs, ...(failed === undefined ? {} : { failed }) });
    }
  };

  return {
    requestTimeoutMs,
    call,
    open: async (what, deadlineMs, signal, request) => {
      const stream = await call(what, deadlineMs, signal, request);
      if (stream instanceof Readable) addAbortSignal(signal, stream);
      return stream;
    },
    pendingCalls: () => [...pending],
    close: () => agent.destroy(),
  };
}

/** Rejects when `signal` aborts. Its listener goes with the signal, which belongs to one call. */
function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

/** Every option that dockerode would otherwise take from DOCKER_* variables is set: an agent's endpoint is its flag and nothing else. */
function connection(endpoint: string): Docker.DockerOptions {
  const common = { protocol: 'http', timeout: 0, ca: undefined, cert: undefined, key: undefined } as const;
  const parsed = parseEngineEndpoint(endpoint);
  if (parsed === undefined) throw new Error(`docker endpoint ${JSON.stringify(endpoint)}: expected ${engineEndpointForms}`);
  return 'socketPath' in parsed
    ? { ...common, host: undefined, port: undefined, socketPath: parsed.socketPath }
    : { ...common, host: `http://${parsed.host}`, port: parsed.port, socketPath: undefined };
}
