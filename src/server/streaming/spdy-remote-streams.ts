import type { Duplex } from 'node:stream';
import { aborted } from '../../base/aborted.ts';
import type { StreamsWanted } from '../../ports/container-access.ts';
import type { RouteRequest } from '../../ports/route.ts';
import { whenFinished } from '../../base/close-socket.ts';
import type { RemoteStreams, StreamingDeps } from './remote-streams.ts';
import type { SpdyConnection } from '../../base/spdy/spdy-connection.ts';
import type { SpdyStream } from '../../base/spdy/spdy-stream.ts';
import { upgradeToSpdy } from './spdy-upgrade.ts';

/** k8s.io/apimachinery/pkg/util/remotecommand SupportedStreamingProtocols. */
const protocols = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'] as const;
type Protocol = (typeof protocols)[number];

const streamTypes = ['error', 'stdin', 'stdout', 'stderr', 'resize'] as const;
type StreamType = (typeof streamTypes)[number];

/** Standard input that the container does not read yet. */
const STREAM_BUFFER_BYTES = 256 * 1024;

const knowsResize = (protocol: Protocol): boolean => protocol === 'v4.channel.k8s.io' || protocol === 'v3.channel.k8s.io';

/** Upgrades, and waits for the streams that were asked for. Undefined when there is nothing left to do: refused, left by the client, or too slow. */
export async function spdyRemoteStreams(
  request: RouteRequest,
  socket: Duplex,
  head: Buffer,
  wanted: StreamsWanted,
  deps: StreamingDeps,
): Promise<RemoteStreams | undefined> {
  const received = new Map<StreamType, SpdyStream>();
  const complete = Promise.withResolvers<void>();
  let jsonStatus = false;
  const connection = await upgradeToSpdy(request, socket, head, protocols, deps, (protocol) => {
    jsonStatus = protocol === 'v4.channel.k8s.io';
    const expected = expectedTypes(wanted, protocol);
    return {
      maxStreams: streamTypes.length,
      streamBufferBytes: STREAM_BUFFER_BYTES,
      // Each once; a stream that was not asked for may be opened, and is of no use.
      accepts: (headers) => {
        const type = streamTypes.find((known) => known === headers.get('streamtype'));
        return type !== undefined && !received.has(type) && (type !== 'resize' || knowsResize(protocol));
      },
      onStream: (stream) => {
        const type = streamTypes.find((known) => known === stream.headers.get('streamtype'));
        if (type === undefined) return;
        received.set(type, stream);
        if (type !== 'stdin' && type !== 'resize') stream.resume();
        if (!expected.includes(type)) stream.resume().end();
        if (expected.every((each) => received.has(each))) complete.resolve();
      },
    };
  });
  if (connection === undefined) return undefined;
  const over = AbortSignal.any([request.signal, connection.over]);
  await waitForStreams(connection, over, complete.promise, received, deps);
  const error = received.get('error');
  if (over.aborted || error === undefined) {
    await connection.close();
    return undefined;
  }
  const used = (type: StreamType, isWanted: boolean): SpdyStream | undefined => (isWanted ? received.get(type) : undefined);
  return {
    stdin: used('stdin', wanted.stdin),
    stdout: used('stdout', wanted.stdout),
    stderr: used('stderr', wanted.stderr),
    resize: used('resize', wanted.tty),
    error,
    jsonStatus,
    over: connection.over,
    close: () => connection.close(),
  };
}

function expectedTypes(wanted: StreamsWanted, protocol: Protocol): readonly StreamType[] {
  const { stdin, stdout, stderr } = wanted;
  const asked = { error: true, stdin, stdout, stderr, resize: wanted.tty && knowsResize(protocol) };
  return streamTypes.filter((type) => asked[type]);
}

async function waitForStreams(
  connection: SpdyConnection,
  over: AbortSignal,
  complete: Promise<void>,
  received: ReadonlyMap<StreamType, SpdyStream>,
  { clock, log, streamCreationTimeoutMs }: StreamingDeps,
): Promise<void> {
  const expired = Promise.withResolvers<'expired'>();
  const timer = clock.schedule(() => expired.resolve('expired'), streamCreationTimeoutMs);
  const outcome = await Promise.race([complete, aborted(over), expired.promise]);
  timer.unsubscribe();
  if (outcome !== 'expired') return;
  const message = 'timed out waiting for client to create streams';
  log.warn('streaming connection closed', { error: message });
  const error = received.get('error');
  if (error !== undefined) {
    error.end(message);
    await whenFinished(error);
  }
  await connection.close(message);
}
