/** What the agent answered instead of what was asked for, or that it did not answer at all. */
export class AgentError extends Error {
  /** Undefined: there was no answer. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

export interface Answer<T> {
  readonly value: T;
  /** By how much the agent's clock is ahead of the browser's. Milliseconds. */
  readonly aheadMs: number;
}

/** An HTTP date has whole seconds, and an answer takes a while: less than this is no difference. */
const LEAST_AHEAD_MS = 3_000;

/** The agent that served this page, by paths that go on from the page's own. */
export class AgentApi {
  readonly #token: () => string | undefined;

  /** `token`: a bearer token, where the agent asks for one. */
  constructor(token: () => string | undefined) {
    this.#token = token;
  }

  /** Rejects with AgentError, or the signal's reason. The answer is what the agent's routes promise: it is the same program. */
  async json<T>(path: string, signal: AbortSignal, body?: string): Promise<Answer<T>> {
    const response = await this.#ask(path, signal, body);
    const text = await response.text();
    try {
      const value: T = JSON.parse(text);
      return { value, aheadMs: aheadOf(response) };
    } catch (cause) {
      throw new AgentError(`the agent's answer to ${path} is not JSON`, response.status, { cause });
    }
  }

  /** Calls `onOpen` when the agent answers, and `onLines` with each piece of the answer. Resolves when the answer ends. */
  async lines(
    path: string,
    { onOpen, onLines }: { readonly onOpen: () => void; readonly onLines: (lines: readonly string[]) => void },
    signal: AbortSignal,
  ): Promise<void> {
    const response = await this.#ask(path, signal);
    onOpen();
    if (response.body === null) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      if (lines.length > 0) onLines(lines);
    }
  }

  async #ask(path: string, signal: AbortSignal, body?: string): Promise<Response> {
    const token = this.#token();
    let response: Response;
    try {
      response = await fetch(path, {
        signal,
        cache: 'no-store',
        redirect: 'error',
        ...(body === undefined ? {} : { method: 'POST', body }),
        headers: {
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
      });
    } catch (cause) {
      signal.throwIfAborted();
      throw new AgentError('the agent does not answer', undefined, { cause });
    }
    if (response.ok) return response;
    const text = (await response.text().catch(() => '')).trim();
    throw new AgentError(text === '' ? `the agent answered ${response.status}` : text, response.status);
  }
}

function aheadOf(response: Response): number {
  const date = Date.parse(response.headers.get('Date') ?? '');
  const ahead = date + 500 - Date.now();
  return Number.isNaN(date) || Math.abs(ahead) < LEAST_AHEAD_MS ? 0 : ahead;
}
