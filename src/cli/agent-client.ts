import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { CommandError } from './command-io.ts';

/** A connection that was switched to another protocol; `head` came with the answer. */
export interface Upgraded {
  readonly response: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** The agent on this machine, over its local socket. Every method rejects with CommandError, in words for people. */
export class AgentClient {
  readonly #socketPath: string;
  readonly #silentForMs: number | undefined;

  /** `silentForMs`: an agent that says nothing for so long is given up; without it, it is waited for. */
  constructor(socketPath: string, silentForMs?: number) {
    this.#socketPath = socketPath;
    this.#silentForMs = silentForMs;
  }

  async text(path: string): Promise<string> {
    return await bodyOf(await this.stream(path));
  }

  async json(path: string): Promise<unknown> {
    return this.#parsed(path, await this.text(path));
  }

  /** Sends JSON, which is answered with JSON. */
  async post(path: string, body: string): Promise<unknown> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) };
      this.#request(path, headers, reject, 'POST').on('response', resolve).end(body);
    });
    if (response.statusCode !== 200) throw await refusal(response);
    return this.#parsed(path, await bodyOf(response));
  }

  #parsed(path: string, text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new CommandError(`the agent's answer to ${path} is not JSON: ${String(error)}`);
    }
  }

  /** A successful answer whose body is still to be read. */
  async stream(path: string): Promise<IncomingMessage> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      this.#request(path, {}, reject).on('response', resolve).end();
    });
    if (response.statusCode === 200) return response;
    throw await refusal(response);
  }

  async upgrade(path: string, headers: Readonly<Record<string, string>>): Promise<Upgraded> {
    const answer = await new Promise<Upgraded | IncomingMessage>((resolve, reject) => {
      this.#request(path, { Connection: 'Upgrade', ...headers }, reject)
        .on('response', resolve)
        .on('upgrade', (response, socket, head) => resolve({ response, socket, head }))
        .end();
    });
    if ('socket' in answer && 'head' in answer) return answer;
    throw await refusal(answer);
  }

  #request(
    path: string,
    headers: Readonly<Record<string, string>>,
    reject: (error: CommandError) => void,
    method: 'GET' | 'POST' = 'GET',
  ): ClientRequest {
    // "localhost": there is no host, and one must be said.
    const sent = request({
      method,
      socketPath: this.#socketPath,
      path,
      headers: { Host: 'localhost', ...headers },
      agent: false,
      timeout: this.#silentForMs,
    });
    sent.on('timeout', () => sent.destroy(new Error(`it said nothing for ${this.#silentForMs} ms`)));
    return sent.on('error', (error) => reject(new CommandError(this.#explain(error))));
  }

  #explain(error: NodeJS.ErrnoException): string {
    const at = this.#socketPath;
    switch (error.code) {
      case 'ENOENT':
      case 'ENOTDIR':
        return `no agent at ${at}: is rxlet running? --root-dir or --socket says where its socket is`;
      case 'ECONNREFUSED':
        return `no answer at ${at}: rxlet is not running any more`;
      case 'EACCES':
      case 'EPERM':
        return `no permission to use ${at}: run this as root`;
      case undefined:
      default:
        return `cannot talk to the agent at ${at}: ${error.message}`;
    }
  }
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of response) pieces.push(Buffer.from(piece));
  } catch (error) {
    throw new CommandError(`the agent broke off its answer: ${error instanceof Error ? error.message : String(error)}`);
  }
  return Buffer.concat(pieces).toString();
}

async function refusal(response: IncomingMessage): Promise<CommandError> {
  const text = (await bodyOf(response)).trim();
  return new CommandError(messageOf(text) ?? (text === '' ? `the agent answered ${response.statusCode}` : text));
}

/** Some of the kubelet's refusals are JSON. */
function messageOf(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'message' in value ? String(value.message) : undefined;
  } catch {
    return undefined;
  }
}
