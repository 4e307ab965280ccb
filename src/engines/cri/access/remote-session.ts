import type { Readable } from 'node:stream';
import { abortable } from '../../../base/abortable.ts';
import { deadline } from '../../../base/deadline.ts';
import { errorText } from '../../../base/error-text.ts';
import type { SpdyClient } from '../../../base/spdy/spdy-client.ts';
import type { SpdyStream } from '../../../base/spdy/spdy-stream.ts';
import type { ContainerSession, StreamsWanted, TerminalSize } from '../../../ports/container-access.ts';
import { type CommandOutcome, commandOutcome } from './command-status.ts';
import { dialStreamingUrl, type StreamingDial } from './dial-streaming-url.ts';

const PROTOCOL = 'v4.channel.k8s.io';
/** A status takes less than 1 KiB, whatever the command was. */
const MAX_STATUS_BYTES = 64 << 10;

type StreamType = 'error' | 'stdin' | 'stdout' | 'stderr' | 'resize';
type Streams = Readonly<Record<Exclude<StreamType, 'error'>, SpdyStream | undefined>> & { readonly error: SpdyStream };

/** A session of which it is known how its command ended. */
export interface RemoteSession extends Omit<ContainerSession, 'ended'> {
  /** Rejects when the connection broke, or the signal's reason. */
  readonly ended: Promise<CommandOutcome>;
}

/**
 * The streams of a command behind a URL that the runtime answered to Exec or Attach. `asked` is what it was asked for there: a stream more or
 * less keeps the server waiting. An abort of `signal` ends the connection.
 */
export async function remoteSession(url: string, asked: StreamsWanted, dial: StreamingDial, signal: AbortSignal): Promise<RemoteSession> {
  const client = await dialStreamingUrl(url, PROTOCOL, dial, signal);
  let streams: Streams;
  try {
    using within = deadline(dial.clock, dial.timeoutMs, "the opening of a command's streams by the runtime", signal);
    streams = await openStreams(client, asked, within.signal);
  } catch (error) {
    void client.close();
    throw error;
  }
  const { stdin, stdout, stderr, resize } = streams;
  // Nothing comes on them, and what ends is seen where it is read.
  stdin?.resume();
  resize?.resume();
  const ended = ending(client, streams, signal).finally(() => stdin?.destroy());
  // A session that is not waited for may break as well.
  ended.catch(() => {});
  return { stdin, stdout, stderr, resize: (size) => sendSize(resize, size), ended };
}

/** In the order of Kubernetes' own clients; the error stream first. */
async function openStreams(client: SpdyClient, { stdin, stdout, stderr, tty }: StreamsWanted, signal: AbortSignal): Promise<Streams> {
  const open = (type: StreamType, wanted: boolean): Promise<SpdyStream | undefined> =>
    wanted ? client.open({ streamtype: type }, signal) : Promise.resolve(undefined);
  const opened = await Promise.all([
    client.open({ streamtype: 'error' }, signal),
    open('stdin', stdin),
    open('stdout', stdout),
    open('stderr', stderr),
    open('resize', tty),
  ]);
  return { error: opened[0], stdin: opened[1], stdout: opened[2], stderr: opened[3], resize: opened[4] };
}

async function ending(client: SpdyClient, { error, stdout, stderr }: Streams, signal: AbortSignal): Promise<CommandOutcome> {
  try {
    const text = await abortable<string>(signal, (resolve, reject) => void statusText(error).then(resolve, reject));
    if (text === '') throw new Error(`the connection to the container broke: ${silence(client)}`);
    const outcome = commandOutcome(text);
    // The status comes last, behind all outputs: what of them was not read yet is still to be read.
    void client.leave();
    return outcome;
  } catch (reason) {
    const why = reason instanceof Error ? reason : new Error(String(reason));
    for (const output of [stdout, stderr]) output?.destroy(why);
    void client.close();
    throw reason;
  }
}

/** Why no status came. */
const silence = ({ over }: SpdyClient): string =>
  over.aborted ? errorText(over.reason) : "the runtime's streaming server ended the session without saying how";

async function statusText(error: Readable): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of error) {
    if (!Buffer.isBuffer(part)) continue;
    bytes += part.length;
    if (bytes > MAX_STATUS_BYTES) throw new Error(`the runtime's status of the command has more than ${MAX_STATUS_BYTES} bytes`);
    parts.push(part);
    // Some servers keep the stream open behind it.
    const text = Buffer.concat(parts).toString();
    if (isWhole(text)) return text;
  }
  return Buffer.concat(parts).toString();
}

/** Whether nothing can follow: a status is one JSON object. */
function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Without effect where there is no terminal, or no more. */
function sendSize(resize: SpdyStream | undefined, { width, height }: TerminalSize): Promise<void> {
  return new Promise((resolve) => {
    if (resize === undefined || resize.destroyed || resize.peerEnded) resolve();
    else resize.write(JSON.stringify({ Width: width, Height: height }), () => resolve());
  });
}
