import { Agent, type ClientRequest } from 'node:http';
import { inspect } from 'node:util';

declare module 'node:http' {
  interface Agent {
    /** What http.request calls on its agent; missing in the published types. */
    addRequest(request: ClientRequest, options: object): void;
  }
}

/** An answer that broke off. The code marks it as a socket's error for the classification. */
class TruncatedResponseError extends Error {
  readonly code = 'ERR_TRUNCATED_RESPONSE';

  constructor() {
    super('the connection closed before the response was complete');
    this.name = 'TruncatedResponseError';
  }
}

/** dockerode runs `util.inspect` over each request's options, agent and all its sockets included. */
class TerseAgent extends Agent {
  constructor() {
    super({ keepAlive: true, maxFreeSockets: 16 });
  }

  [inspect.custom](): string {
    return 'EngineAgent';
  }
}

/** Keep-alive connections to the daemon, as many as there are calls under way: a stop may hold one for its whole grace period. */
export class EngineAgent extends TerseAgent {
  override addRequest(request: ClientRequest, options: object): void {
    // dockerode waits for ever for the end of an answer whose connection was cut.
    request.once('response', (response) => {
      response.once('close', () => {
        if (!response.complete) request.emit('error', new TruncatedResponseError());
      });
    });
    super.addRequest(request, options);
  }
}

/** The requests of one call, on the connections of `shared`: they end with the call, whichever way dockerode made them. */
export class CallAgent extends TerseAgent {
  readonly #shared: EngineAgent;
  readonly #open = new Set<ClientRequest>();
  #over: Error | undefined;

  constructor(shared: EngineAgent) {
    super();
    this.#shared = shared;
  }

  override addRequest(request: ClientRequest, options: object): void {
    if (this.#over) throw this.#over;
    this.#open.add(request);
    request.once('close', () => this.#open.delete(request));
    this.#shared.addRequest(request, options);
  }

  /** Refuses further requests. */
  seal(why: Error): void {
    this.#over ??= why;
  }

  /** Refuses further requests, and ends those under way with their connections. */
  end(why: Error): void {
    this.seal(why);
    for (const request of this.#open) request.destroy(why);
  }
}
