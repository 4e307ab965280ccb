import type { Duplex } from 'node:stream';
import type { StreamsWanted } from '../../ports/container-access.ts';
import type { RouteRequest } from '../../ports/route.ts';
import type { RemoteStreams, StreamingDeps } from './remote-streams.ts';
import { type ChannelKind, WebSocketChannels } from './websocket-channels.ts';
import { acceptWebSocket } from './websocket-upgrade.ts';

const protocols = [
  '',
  'channel.k8s.io',
  'base64.channel.k8s.io',
  'v4.channel.k8s.io',
  'v4.base64.channel.k8s.io',
  'v5.channel.k8s.io',
  'v5.base64.channel.k8s.io',
] as const;

const STDOUT = 1;
const STDERR = 2;
const ERROR = 3;

/** Upgrades. All channels are there from the start: 0 to 2 as file descriptors, 3 errors, 4 sizes of the terminal. */
export async function webSocketRemoteStreams(
  request: RouteRequest,
  socket: Duplex,
  head: Buffer,
  wanted: StreamsWanted,
  { idleTimeoutMs, clock }: StreamingDeps,
): Promise<RemoteStreams | undefined> {
  const { webSocket, protocol } = await acceptWebSocket(request.message, socket, head, protocols);
  const kinds: readonly ChannelKind[] = [
    wanted.stdin ? 'read' : 'ignore',
    wanted.stdout ? 'write' : 'ignore',
    wanted.stderr ? 'write' : 'ignore',
    'write',
    'read',
  ];
  const connection = new WebSocketChannels(webSocket, socket, kinds, {
    base64: protocol.includes('base64'),
    closeSignal: protocol.startsWith('v5.'),
    idleTimeoutMs,
    clock,
  });
  const [stdin, stdout, stderr, error, resize] = connection.channels;
  if (error === undefined) return undefined;
  // Tells the client that the connection is there, before the first output.
  void connection.send(wanted.stdout ? STDOUT : wanted.stderr ? STDERR : ERROR, Buffer.alloc(0));
  return {
    stdin: wanted.stdin ? stdin : undefined,
    stdout: wanted.stdout ? stdout : undefined,
    stderr: wanted.stderr ? stderr : undefined,
    resize,
    error,
    jsonStatus: /^v[45]\./.test(protocol),
    over: connection.over,
    close: () => connection.close(),
  };
}
