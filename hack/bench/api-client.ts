import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, type AgentOptions, request } from 'node:https';
import { parse } from 'yaml';
import { onJsonLines } from './on-json-lines.ts';

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } }[];
  readonly users: readonly { readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string } }[];
}

export interface PodEvent {
  readonly type: string;
  readonly object: {
    readonly metadata: { readonly name: string };
    readonly status?: { readonly phase?: string; readonly containerStatuses?: readonly { readonly ready: boolean }[] };
  };
}

/** A plain client of the API server with an administrator's certificate. */
export class ApiClient {
  readonly #server: string;
  readonly #tls: AgentOptions;
  readonly #agent: Agent;

  constructor(kubeconfig: string) {
    const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig;
    const decode = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'base64');
    this.#server = clusters[0]?.cluster.server ?? '';
    this.#tls = {
      ca: decode(clusters[0]?.cluster['certificate-authority-data']),
      cert: decode(users[0]?.user['client-certificate-data']),
      key: decode(users[0]?.user['client-key-data']),
    };
    this.#agent = new Agent({ ...this.#tls, keepAlive: true });
  }

  call(method: string, path: string, body?: unknown): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
      const req = request(new URL(path, this.#server), { method, agent: this.#agent, headers }, (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('error', reject);
        res.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          if ((res.statusCode ?? 500) >= 400) reject(new Error(`${method} ${path}: ${res.statusCode} ${text.slice(0, 300)}`));
          else resolve(text);
        });
      });
      req.on('error', reject);
      req.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** An endless answer on a connection of its own. */
  open(path: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const req = request(new URL(path, this.#server), { ...this.#tls, agent: false }, (res) => {
        if (res.statusCode === 200) resolve(res);
        else reject(new Error(`GET ${path}: ${res.statusCode}`));
      });
      req.on('error', reject);
      req.end();
    });
  }

  /** Resolves once it watches, with the function that stops it. */
  async watchPods(path: string, onEvent: (event: PodEvent) => void): Promise<() => void> {
    const list = JSON.parse(await this.call('GET', `${path}?limit=1`)) as { metadata: { resourceVersion: string } };
    return new Promise((resolve, reject) => {
      const url = new URL(`${path}?watch=1&resourceVersion=${list.metadata.resourceVersion}`, this.#server);
      const req = request(url, { agent: this.#agent }, (res) => {
        onJsonLines(res, (line) => onEvent(line as PodEvent));
        resolve(() => req.destroy());
      });
      req.on('error', reject);
      req.end();
    });
  }

  /** Requests that the API server has answered since its start, watches included. */
  async requestsAnswered(): Promise<number> {
    const metrics = await this.call('GET', '/metrics');
    return [...metrics.matchAll(/^apiserver_request_total\{.*\} (\S+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
  }
}
