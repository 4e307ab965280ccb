import { once } from 'node:events';

/** Bytes. */
export interface Memory {
  readonly rss: number;
  /** Of JavaScript's objects, and of what they hold beside them. */
  readonly alive: number;
}

/** A Node.js process that has been told to listen to its inspector (SIGUSR1), as the line that it then prints says where. */
export class InspectedProcess {
  readonly #socket: WebSocket;
  #serial = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** `line`: "Debugger listening on ws://…" */
  static async attach(line: string): Promise<InspectedProcess> {
    const url = /ws:\/\/\S+/.exec(line)?.[0];
    if (url === undefined) throw new Error(`where does it listen? ${line}`);
    const socket = new WebSocket(url);
    await once(socket, 'open');
    return new InspectedProcess(socket);
  }

  /** What the process has once all garbage is collected. */
  async memory(): Promise<Memory> {
    await this.#call('HeapProfiler.collectGarbage');
    const expression = 'JSON.stringify(process.memoryUsage())';
    const { result } = (await this.#call('Runtime.evaluate', { expression })) as { result: { value: string } };
    const { rss, heapUsed, external } = JSON.parse(result.value) as NodeJS.MemoryUsage;
    return { rss, alive: heapUsed + external };
  }

  close(): void {
    this.#socket.close();
  }

  async #call(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#serial;
    this.#socket.send(JSON.stringify({ id, method, params }));
    for (;;) {
      const [event] = (await once(this.#socket, 'message')) as [{ readonly data: string }];
      const answer = JSON.parse(event.data) as { readonly id?: number; readonly result?: unknown; readonly error?: unknown };
      if (answer.id !== id) continue;
      if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
      return answer.result;
    }
  }
}
