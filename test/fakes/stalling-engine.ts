import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';

/** How the engine lets a caller down: it says nothing, half a head, half a body, half a refusal, or a byte now and then for ever. */
export const stalls = ['nothing', 'half a head', 'half a body', 'half a refusal', 'a trickle'] as const;
export type Stall = (typeof stalls)[number];

export interface StallingEngine {
  /** unix://PATH */
  readonly endpoint: string;
  /** How many requests have been let down so far. */
  readonly letDown: () => number;
  /** Connections that are still open and wait for the rest of an answer. */
  readonly waiting: () => number;
  readonly close: () => Promise<void>;
}

const SANDBOX = 'f'.repeat(64);
const labels = { 'io.kubernetes.docker.type': 'podsandbox', 'io.kubernetes.pod.uid': 'uid' };
const running = {
  Running: true,
  Status: 'running',
  StartedAt: '2026-01-01T00:00:00Z',
  FinishedAt: '0001-01-01T00:00:00Z',
  ExitCode: 0,
  Pid: 1,
};
const inspected = {
  Id: SANDBOX,
  Name: '/k8s_POD_pod_ns_uid_0',
  Created: '2026-01-01T00:00:00Z',
  State: running,
  Config: { Labels: labels, Image: 'pause', Tty: false },
  HostConfig: { NetworkMode: 'bridge', LogConfig: { Type: 'journald' } },
  NetworkSettings: { Networks: {} },
  Mounts: [],
  LogPath: '',
};
const listed = { Id: SANDBOX, Names: ['/k8s_POD_pod_ns_uid_0'], State: 'running', Labels: labels, ImageID: 'sha256:1' };

/** What a daemon answers when it answers: enough for each caller to go on to its next request. */
const answers: readonly (readonly [request: RegExp, status: number, body: unknown])[] = [
  // What an image is asked for before it is removed: nothing was made from it.
  [/^GET \/containers\/json\?.*ancestor/, 200, []],
  [/^GET \/images\/f+\/json/, 200, { Id: SANDBOX, RepoTags: [], RepoDigests: [] }],
  // Nothing is left of an export that was cut short.
  [/^GET \/containers\/json\?.*export-to/, 200, []],
  [/^GET \/containers\/json/, 200, [listed]],
  [/^GET \/containers\/[^/]+\/export/, 200, undefined],
  [/^PUT \/containers\/[^/]+\/archive/, 200, undefined],
  [/^GET \/containers\/[^/]+\/json/, 200, inspected],
  [/^POST \/containers\/create/, 201, { Id: SANDBOX }],
  [/^POST \/containers\/[^/]+\/start/, 204, undefined],
  [/^POST \/containers\/[^/]+\/exec/, 201, { Id: 'e1' }],
  [/^POST \/(containers|exec)\/[^/]+\/resize/, 200, {}],
  // Leads to the wait for a removal that is under way.
  [/^DELETE \/containers\//, 409, { message: 'removal is already in progress' }],
];

/** A daemon that answers, and lets down each request that looks like `which`. */
export async function stallingEngine(which: RegExp, how: Stall): Promise<StallingEngine> {
  const directory = await mkdtemp(join(tmpdir(), 'rxlet-engine-'));
  const path = join(directory, 'engine.sock');
  const waiting = new Set<Duplex>();
  const sockets = new Set<Socket>();
  let letDown = 0;
  const stall = (socket: Duplex): void => {
    letDown++;
    waiting.add(socket);
    socket.once('close', () => waiting.delete(socket));
    if (how === 'half a head') socket.write('HTTP/1.1 200 OK\r\nContent-Le');
    if (how === 'half a body') socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"Id":');
    if (how === 'half a refusal') socket.write('HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\n{"message":');
    if (how !== 'a trickle') return;
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
    const trickle = setInterval(() => socket.write(' '), 5);
    socket.once('close', () => clearInterval(trickle));
  };
  const matches = ({ method, url }: IncomingMessage): boolean => which.test(`${method} ${url}`);
  const server = createServer((request, response) => {
    if (matches(request)) {
      stall(request.socket);
      return;
    }
    const [, status, body] = answers.find(([known]) => known.test(`${request.method} ${request.url}`)) ?? [
      undefined,
      404,
      { message: 'no' },
    ];
    response.writeHead(status).end(body === undefined ? undefined : JSON.stringify(body));
  });
  // An upgrade: of exec and attach.
  server.on('upgrade', (request, socket: Duplex) => {
    socket.on('error', () => {});
    // As a daemon does: what has ended at the other end is closed.
    socket.resume().once('end', () => socket.end());
    if (matches(request)) stall(socket);
    else {
      socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
      // How a process ended is asked once its outputs have.
      if (which.test('GET /exec/e1/json')) socket.end();
    }
  });
  server.on('connection', (socket) => {
    sockets.add(socket.on('error', () => {}).once('close', () => sockets.delete(socket)));
  });
  server.listen(path);
  await once(server, 'listening');
  return {
    endpoint: `unix://${path}`,
    letDown: () => letDown,
    waiting: () => waiting.size,
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
      await rm(directory, { recursive: true });
    },
  };
}
