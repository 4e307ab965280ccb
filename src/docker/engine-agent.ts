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

/**
 * Keep-alive connections to the daemon, as many as there are calls under way: a stop may hold one for its whole grace period.
 * Two repairs of dockerode live here. It runs `util.inspect` over each request's options, agent and all its sockets included;
 * and it waits for ever for the end of an answer whose connection was cut.
 */
export class EngineAgent extends Agent {
  constructor() {
    super({ keepAlive: true, maxFreeSockets: 16 });
  }

  override addRequest(request: ClientRequest, options: object): void {
    request.once('response', (response) => {
      response.once('close', () => {
        if (!response.complete) request.emit('error', new TruncatedResponseError());
      });
    });
    super.addRequest(request, options);
  }

  [inspect.custom](): string {
    return 'EngineAgent';
  }
}
