import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { constants, type ClientHttp2Stream } from 'node:http2';

const CREATED = 'http2.client.stream.created';

/**
 * Until what it returns is called, a client's HTTP/2 stream that is closed without a code is cancelled (CANCEL), where Node would send NO_ERROR.
 *
 * A stream that is closed with NO_ERROR while its request's body is still on its way waits for that body's end. When it is destroyed then,
 * Node's session sends empty DATA frames for it for ever: the process spins, grows without end and hears no signal (seen with Node 24.21).
 * undici does just this with a request that is given up (8.12). Streams are made far from here; Node's own channel is where each comes by.
 */
export function cancelClosedStreams(): () => void {
  const onCreated = (message: unknown): void => {
    if (!isCreated(message)) return;
    const { stream } = message;
    const close = stream.close.bind(stream);
    stream.close = (code = constants.NGHTTP2_CANCEL, callback) => close(code, callback);
  };
  subscribe(CREATED, onCreated);
  return () => unsubscribe(CREATED, onCreated);
}

function isCreated(message: unknown): message is { readonly stream: Pick<ClientHttp2Stream, 'close'> } {
  return typeof message === 'object' && message !== null && 'stream' in message;
}
