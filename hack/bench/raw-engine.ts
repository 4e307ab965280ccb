import { Agent, request } from 'node:http';
import { onJsonLines } from './on-json-lines.ts';

/** An engine that says nothing for as long hangs. */
const SILENT_MS = 180_000;

/** The plainest client of a Docker Engine: what the agent's speed is held against. */
export class RawEngine {
  readonly #socketPath: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(endpoint: string) {
    if (!endpoint.startsWith('unix://')) throw new Error(`the benchmark wants an engine on a unix socket, not ${endpoint}`);
    this.#socketPath = endpoint.slice('unix://'.length);
  }

  call(method: string, path: string, body?: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' };
      const req = request({ socketPath: this.#socketPath, agent: this.#agent, method, path, headers }, (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('error', reject);
        res.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          if ((res.statusCode ?? 500) >= 400) reject(new Error(`${method} ${path}: ${res.statusCode} ${text}`));
          else resolve(text === '' ? undefined : JSON.parse(text));
        });
      });
      req.setTimeout(SILENT_MS, () => req.destroy(new Error(`${method} ${path}: the engine said nothing for ${SILENT_MS / 1000} s`)));
      req.on('error', reject);
      req.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Lets go of idle connections. */
  close(): void {
    this.#agent.destroy();
  }

  /** Create and start pause, create and start app: the least that a pod costs. Resolves with the containers' ids. */
  async startPod(name: string, pauseImage: string, appImage: string): Promise<readonly string[]> {
    const create = async (part: string, body: unknown): Promise<string> => {
      const { Id } = (await this.call('POST', `/containers/create?name=${name}-${part}`, body)) as { Id: string };
      await this.call('POST', `/containers/${Id}/start`);
      return Id;
    };
    const pause = await create('pause', { Image: pauseImage, Labels: { bench: '1' }, HostConfig: { IpcMode: 'shareable' } });
    const app = await create('app', {
      Image: appImage,
      Cmd: ['sh', '-c', 'sleep 100000'],
      Labels: { bench: '1' },
      HostConfig: { NetworkMode: `container:${pause}`, IpcMode: `container:${pause}`, Memory: 64 << 20 },
    });
    return [app, pause];
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.call('DELETE', `/containers/${id}?force=1`);
  }

  /** Starts of app containers of pods, by pod name. Stop it with the returned function. */
  watchStarts(onStart: (pod: string, heardAtMs: number) => void): Promise<() => void> {
    return this.watch(({ Action, Actor }) => {
      const { 'io.kubernetes.pod.name': pod, 'io.kubernetes.container.name': container } = Actor.Attributes;
      if (Action === 'start' && pod !== undefined && container !== 'POD') onStart(pod, performance.now());
    });
  }

  /** What happens to containers. Resolves once it listens, with the function that stops it. */
  watch(onEvent: (event: EngineEvent) => void): Promise<() => void> {
    const filters = encodeURIComponent(JSON.stringify({ type: ['container'] }));
    return new Promise((resolve, reject) => {
      const req = request({ socketPath: this.#socketPath, path: `/events?filters=${filters}` }, (res) => {
        onJsonLines(res, (line) => onEvent(line as EngineEvent));
        resolve(() => req.destroy());
      });
      req.on('error', reject);
      req.end();
    });
  }
}

export interface EngineEvent {
  readonly Action: string;
  readonly id: string;
  readonly timeNano: number;
  readonly Actor: { readonly Attributes: Readonly<Record<string, string>> };
}
