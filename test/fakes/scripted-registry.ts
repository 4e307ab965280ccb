import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BuiltImage } from '../builders/an-image.ts';

/** How the registry treats one repository. */
export interface RegistryScript {
  /** Only these may pull; others hear 401. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Answers every manifest so. */
  readonly manifestFails?: { readonly status: number; readonly code: string; readonly message: string };
  /** Takes requests for manifests and never answers. */
  readonly manifestHangs?: boolean;
  /** Sends half of each layer and then nothing more until `resume`. */
  readonly hangsMidLayer?: boolean;
  /** Sends layers in pieces of `bytes`, with a pause after each. */
  readonly trickle?: { readonly bytes: number; readonly everyMs: number };
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly username: string | undefined;
}

/** A registry (Docker Registry HTTP API v2, pull side) that does as it is told. Docker engines take plain HTTP from 127.0.0.1. */
export class ScriptedRegistry {
  readonly requests: SeenRequest[] = [];
  readonly #server: Server;
  readonly #images = new Map<string, BuiltImage>();
  readonly #scripts = new Map<string, RegistryScript>();
  readonly #asked: { readonly part: string; readonly resolve: () => void }[] = [];
  readonly #cut: { readonly repository: string; readonly resolve: () => void }[] = [];
  readonly #hung: (() => void)[] = [];

  static async start(): Promise<ScriptedRegistry> {
    const registry = new ScriptedRegistry();
    registry.#server.listen(0, '127.0.0.1');
    await once(registry.#server, 'listening');
    return registry;
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
    });
  }

  get host(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the registry does not listen');
    return `127.0.0.1:${address.port}`;
  }

  /** Answers the image's full name. */
  serve(repository: string, tag: string, image: BuiltImage, script: RegistryScript = {}): string {
    this.#images.set(`${repository}:${tag}`, image);
    this.#scripts.set(repository, script);
    return `${this.host}/${repository}:${tag}`;
  }

  script(repository: string, script: RegistryScript): void {
    this.#scripts.set(repository, script);
  }

  /** Goes on with the layers that hang, very slowly. An engine that waits inside a read cannot drop the connection before. */
  resume(): void {
    for (const more of this.#hung.splice(0)) more();
  }

  /** Resolves when a client drops the connection in the middle of a layer. */
  isCut(repository: string): Promise<void> {
    return new Promise((resolve) => this.#cut.push({ repository, resolve }));
  }

  /** Resolves when a path that contains `part` has been asked for. */
  isAsked(part: string): Promise<void> {
    if (this.requests.some(({ path }) => path.includes(part))) return Promise.resolve();
    return new Promise((resolve) => this.#asked.push({ part, resolve }));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/';
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const userAndPassword = basic === undefined ? undefined : Buffer.from(basic, 'base64').toString();
    this.requests.push({ method: request.method ?? '', path, username: userAndPassword?.split(':')[0] });
    for (const { part, resolve } of this.#asked) if (path.includes(part)) resolve();
    response.setHeader('Docker-Distribution-Api-Version', 'registry/2.0');
    const [, repository = '', kind, reference = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(path) ?? [];
    if (kind === undefined) {
      // Docker learns here how to log in. A registry with one closed repository asks everybody.
      const closed = [...this.#scripts.values()].some((s) => s.credentials !== undefined);
      if (closed && userAndPassword === undefined) refuse(response, 401, 'UNAUTHORIZED', 'authentication required');
      else response.end('{}');
      return;
    }
    const script = this.#scripts.get(repository) ?? {};
    const { credentials, manifestFails } = script;
    if (credentials && userAndPassword !== `${credentials.username}:${credentials.password}`) {
      refuse(response, 401, 'UNAUTHORIZED', 'authentication required');
    } else if (kind === 'manifests') {
      if (script.manifestHangs) return;
      if (manifestFails) refuse(response, manifestFails.status, manifestFails.code, manifestFails.message);
      else this.#manifest(request, response, repository, reference);
    } else await this.#blob(response, repository, reference, script);
  }

  #manifest(request: IncomingMessage, response: ServerResponse, repository: string, reference: string): void {
    const image =
      this.#images.get(`${repository}:${reference}`) ??
      [...this.#images].find(([name, i]) => name.startsWith(`${repository}:`) && i.manifest.digest === reference)?.[1];
    if (image === undefined) {
      refuse(response, 404, 'MANIFEST_UNKNOWN', 'manifest unknown');
      return;
    }
    response.setHeader('Content-Type', image.mediaType);
    response.setHeader('Content-Length', image.manifest.bytes.length);
    response.setHeader('Docker-Content-Digest', image.manifest.digest);
    response.end(request.method === 'HEAD' ? undefined : image.manifest.bytes);
  }

  async #blob(response: ServerResponse, repository: string, digest: string, script: RegistryScript): Promise<void> {
    const images = [...this.#images].filter(([name]) => name.startsWith(`${repository}:`)).map(([, image]) => image);
    const config = images.map((i) => i.config).find((b) => b.digest === digest);
    const layer = images.flatMap((i) => i.layers).find((b) => b.digest === digest);
    const bytes = (config ?? layer)?.bytes;
    if (bytes === undefined) {
      refuse(response, 404, 'BLOB_UNKNOWN', 'blob unknown to registry');
      return;
    }
    response.setHeader('Content-Type', 'application/octet-stream');
    response.setHeader('Content-Length', bytes.length);
    response.once('close', () => {
      if (response.writableFinished) return;
      for (const { repository: wanted, resolve } of this.#cut) if (wanted === repository) resolve();
    });
    if (layer !== undefined && script.hangsMidLayer) {
      const half = Math.floor(bytes.length / 2);
      response.write(bytes.subarray(0, half));
      this.#hung.push(() => {
        void sendByteByByte(response, bytes.subarray(half));
      });
      return;
    }
    if (layer !== undefined && script.trickle) {
      for (let at = 0; at < bytes.length && !response.destroyed; at += script.trickle.bytes) {
        response.write(bytes.subarray(at, at + script.trickle.bytes));
        await sleep(script.trickle.everyMs);
      }
      response.end();
      return;
    }
    response.end(bytes);
  }
}

async function sendByteByByte(response: ServerResponse, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length && !response.destroyed; at++) {
    response.write(bytes.subarray(at, at + 1));
    await sleep(20);
  }
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  if (status === 401) response.setHeader('WWW-Authenticate', 'Basic realm="scripted"');
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ errors: [{ code, message }] }));
}
