import type { Duplex } from 'node:stream';
import { refuseConnection } from '../refuse-connection.ts';
import { HttpError, type RouteRequest } from '../../ports/route.ts';
import type { StreamingDeps } from './remote-streams.ts';
import { SpdyConnection, type SpdyConnectionOptions } from '../../base/spdy/spdy-connection.ts';
import { listedValues, switchProtocols, wantedUpgrade } from './upgrade-answer.ts';

const VERSION_HEADER = 'X-Stream-Protocol-Version';
const ACCEPTED_HEADER = 'X-Accepted-Stream-Protocol-Versions';

/** What differs between the uses of SPDY. */
export type SpdyUse = Pick<SpdyConnectionOptions, 'accepts' | 'onStream' | 'maxStreams' | 'streamBufferBytes'>;

/**
 * Goes on with SPDY/3.1, in the first protocol of the client's list that is among ours. Without any, the answer is HTTP 403, and
 * undefined is returned once it was given. Throws HttpError 400 for a client that names none, or does not ask for SPDY
 * (k8s.io/apimachinery/pkg/util/httpstream Handshake, httpstream/spdy UpgradeResponse).
 */
export async function upgradeToSpdy<P extends string>(
  request: RouteRequest,
  socket: Duplex,
  head: Buffer,
  ours: readonly P[],
  deps: StreamingDeps,
  use: (protocol: P) => SpdyUse,
): Promise<SpdyConnection | undefined> {
  const { message } = request;
  const theirs = listedValues(message, VERSION_HEADER.toLowerCase());
  if (theirs.length === 0) throw new HttpError(400, `unable to upgrade: ${VERSION_HEADER} is required`);
  const protocol = theirs.map((name) => ours.find((own) => own === name)).find((name) => name !== undefined);
  if (protocol === undefined) {
    const text = `unable to upgrade: unable to negotiate protocol: client supports [${theirs.join(' ')}], server accepts [${ours.join(' ')}]`;
    const accepted = ours.map((own) => [ACCEPTED_HEADER, own] as const);
    await refuseConnection(socket, deps.clock, 403, `${text}\n`, accepted);
    return undefined;
  }
  if (wantedUpgrade(message) !== 'spdy') {
    const { connection = '', upgrade = '' } = message.headers;
    throw new HttpError(400, `unable to upgrade: missing upgrade headers in request: Connection: "${connection}", Upgrade: "${upgrade}"`);
  }
  // Listeners first: what is read with the head may be a whole session.
  switchProtocols(socket, 'SPDY/3.1', [[VERSION_HEADER, protocol]]);
  const { idleTimeoutMs, clock, log } = deps;
  return new SpdyConnection(socket, head, { ...use(protocol), idleTimeoutMs, clock, log });
}
