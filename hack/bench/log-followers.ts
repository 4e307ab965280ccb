import type { IncomingMessage } from 'node:http';
import type { ApiClient } from './api-client.ts';
import { pause } from './cluster-nodes.ts';

/** How often a slow reader reads. */
const SLOW_MS = 500;

/** Follows one log many times, on a connection each. Slow readers take a chunk now and then, so that what they have not read waits somewhere. */
export class LogFollowers {
  bytes = 0;
  /** Of which each has had some. */
  readonly heard = new Set<number>();
  readonly #answers: IncomingMessage[] = [];

  static async start(api: ApiClient, path: string, count: number, slow: boolean): Promise<LogFollowers> {
    const followers = new LogFollowers();
    await Promise.all(
      Array.from({ length: count }, async (_, i) => {
        const answer = await api.open(path);
        followers.#answers.push(answer);
        answer.on('error', () => {});
        if (slow) void followers.#readSlowly(answer, i);
        else answer.on('data', (chunk: Buffer) => followers.#heard(chunk, i));
      }),
    );
    return followers;
  }

  stop(): void {
    for (const answer of this.#answers) answer.destroy();
  }

  #heard(chunk: Buffer, i: number): void {
    this.bytes += chunk.length;
    this.heard.add(i);
  }

  async #readSlowly(answer: IncomingMessage, i: number): Promise<void> {
    while (!answer.destroyed) {
      const chunk: unknown = answer.read();
      if (Buffer.isBuffer(chunk)) this.#heard(chunk, i);
      await pause(SLOW_MS);
    }
  }
}
