import { addAbortSignal, Readable } from 'node:stream';
import Docker from 'dockerode';
import type { Clock } from '../../../base/clock.ts';
import { deadline } from '../../../base/deadline.ts';
import { isJsonObject, type JsonObject } from '../../../base/json-object.ts';
import { unlessAborted } from '../../../base/unless-aborted.ts';
import { engineEndpointForms, parseEngineEndpoint } from '../../../model/engine-endpoint.ts';
import type { Happenings } from '../../../ports/happenings.ts';
import { type Dialect, dialects } from './dialect.ts';
import { CallAgent, EngineAgent } from './engine-agent.ts';
import { type SelfQuestion, SelfDescription } from './self-description.ts';
import { classifyEngineError, EngineDeadlineError } from './engine-errors.ts';

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
   * Runs one engine call: `call('GET /containers/ID/json', ms, signal, (docker) => docker.getContainer(ID).inspect())`. With the call, by
   * whatever it ends, end the connections of all that `request` asked `docker` for; nothing can be asked of `docker` afterwards.
   */
  call<T>(what: string, deadlineMs: number, signal: AbortSignal, request: (docker: Docker) => Promise<T>): Promise<T>;
  /**
   * As `call` for an answer that is a stream: the deadline is for its beginning, an abort of `signal` destroys it for as long as it lives.
   * What is no Readable is refused.
   */
  open<S extends NodeJS.ReadableStream>(
    what: string,
    deadlineMs: number,
    signal: AbortSignal,
    request: (docker: Docker) => Promise<S>,
  ): Promise<S & Readable>;
  /** In what the engine differs from Docker. Asked for once, where it is not known from the start. */
  dialect(signal: AbortSignal): Promise<Dialect>;
  /** What it says of itself, as of `selfFreshMs` of its dialect ago at most. */
  about(question: SelfQuestion, signal: AbortSignal): Promise<JsonObject>;
  /** Calls without an answer yet, oldest first: names what is stuck. */
  pendingCalls(): readonly EngineCall[];
  /** Drops idle connections. */
  close(): void;
}

export interface EngineClientOptions {
  /** unix://PATH or tcp://HOST:PORT */
  readonly endpoint: string;
  readonly clock: Clock;
  readonly requestTimeoutMs: number;
  readonly tell: Pick<Happenings, 'engineCalled'>;
  /** What has answered there; absent: nothing yet, so that it is asked for when it matters. */
  readonly speaks?: Dialect['name'] | undefined;
}

export function engineClient({ endpoint, clock, requestTimeoutMs, tell, speaks }: EngineClientOptions): EngineClient {
  const shared = new EngineAgent();
  const { modem }: Docker = new Docker(connection(endpoint));
  const pending = new Set<EngineCall>();
  let known = speaks && dialects[speaks];

  const run = async <T>(
    what: string,
    deadlineMs: number,
    signal: AbortSignal,
    request: (docker: Docker, own: AbortSignal) => Promise<T>,
    settle: (agent: CallAgent) => void,
  ): Promise<T> => {
    signal.throwIfAborted();
    using own = deadline(clock, deadlineMs, () => new EngineDeadlineError(what, deadlineMs), signal);
    const entry: EngineCall = { what, sinceMs: clock.monotonicMs() };
    pending.add(entry);
    const agent = new CallAgent(shared);
    let failed: 'error' | 'timeout' | undefined;
    try {
      const answer = await unlessAborted(request(dockerBehind(modem, agent), own.signal), own.signal);
      settle(agent);
      return answer;
    } catch (error) {
      agent.end(own.signal.aborted && own.signal.reason instanceof Error ? own.signal.reason : callIsOver(what));
      if (!signal.aborted) failed = own.signal.aborted ? 'timeout' : 'error';
      if (own.signal.aborted) throw own.signal.reason;
      throw classifyEngineError(what, endpoint, error);
    } finally {
      pending.delete(entry);
      tell.engineCalled({ what, tookMs: clock.monotonicMs() - entry.sinceMs, failed });
    }
  };

  const call: EngineClient['call'] = (what, deadlineMs, signal, request) =>
    run(
      what,
      deadlineMs,
      signal,
      (docker) => request(docker),
      (agent) => agent.end(callIsOver(what)),
    );

  const ask = async (question: SelfQuestion, signal: AbortSignal): Promise<JsonObject> => {
    const answer: unknown = await call(`GET /${question}`, requestTimeoutMs, signal, (docker): Promise<unknown> => docker[question]());
    return isJsonObject(answer) ? answer : {};
  };
  const dialect = async (signal: AbortSignal): Promise<Dialect> => (known ??= dialectOf(await ask('version', signal)));
  const said = new SelfDescription((question) => ask(question, new AbortController().signal), clock);

  return {
    requestTimeoutMs,
    dialect,
    about: async (question, signal) => {
      signal.throwIfAborted();
      const { selfFreshMs } = await dialect(signal);
      return selfFreshMs === 0 ? ask(question, signal) : said.get(question, selfFreshMs, signal);
    },
    call,
    open: (what, deadlineMs, signal, request) =>
      run(
        what,
        deadlineMs,
        signal,
        async (docker, own) => {
          const stream = await request(docker);
          if (!(stream instanceof Readable)) throw new Error('the engine did not answer with a stream');
          // It came as the call was given up: what was upgraded is no request any more, which ends with it.
          if (own.aborted) stream.destroy();
          return addAbortSignal(signal, stream);
        },
        (agent) => agent.seal(callIsOver(what)),
      ),
    pendingCalls: () => [...pending],
    close: () => shared.destroy(),
  };
}

/** As Podman names itself among what it is made of. */
function dialectOf(version: JsonObject): Dialect {
  const components = version['Components'];
  const isPodman = Array.isArray(components) && components.some((part: unknown) => isJsonObject(part) && part['Name'] === 'Podman Engine');
  return isPodman ? dialects.podman : dialects.docker;
}

/** A dockerode whose requests all go through `agent`. Its settings are read once, not for each call. */
function dockerBehind(modem: object, agent: CallAgent): Docker {
  const own: object = Object.create(modem, { agent: { value: agent, writable: true } });
  const options: Docker.DockerOptions & { readonly modem: object } = { modem: own };
  return new Docker(options);
}

const callIsOver = (what: string): Error => new Error(`docker: ${what} is over: a new request to the engine takes a call of its own`);

/** Every option that dockerode would otherwise take from DOCKER_* variables is set: an agent's endpoint is its flag and nothing else. */
function connection(endpoint: string): Docker.DockerOptions {
  const common = { protocol: 'http', timeout: 0, ca: undefined, cert: undefined, key: undefined } as const;
  const parsed = parseEngineEndpoint(endpoint);
  if (parsed === undefined) throw new Error(`docker endpoint ${JSON.stringify(endpoint)}: expected ${engineEndpointForms}`);
  return 'socketPath' in parsed
    ? { ...common, host: undefined, port: undefined, socketPath: parsed.socketPath }
    : { ...common, host: `http://${parsed.host}`, port: parsed.port, socketPath: undefined };
}
