import { connect as connectHttp2, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import { abortable } from '../../base/abortable.ts';
import type { EngineEndpoint } from '../../model/engine-endpoint.ts';
import { away, type EndpointAnswer, wrong } from './endpoint-answer.ts';
import { stringFields } from './string-fields.ts';

/** A VersionResponse has four short strings. */
const MAX_ANSWER_BYTES = 16 << 10;
/** The frame of a message without a field that is set: not compressed, of no length. */
const emptyMessage = Buffer.alloc(5);
const FRAME_HEADER_BYTES = 5;
const OK = 0;
/** google.golang.org/grpc/codes */
const UNIMPLEMENTED = 12;

/** Asks by gRPC for the version of a container runtime, of v1, then of v1alpha2. Rejects with the error of the connection, or the signal's reason. */
export async function askCri(at: EngineEndpoint, signal: AbortSignal): Promise<EndpointAnswer | 'another protocol'> {
  const socket = 'socketPath' in at ? connect(at.socketPath) : connect(Number(at.port), at.host.replaceAll(/[[\]]/g, ''));
  const session = connectHttp2('http://localhost', { createConnection: () => socket });
  session.on('error', () => {});
  try {
    for (const apiVersion of ['v1', 'v1alpha2'] as const) {
      const reply = await callVersion(session, apiVersion, signal);
      if (reply === 'another protocol') return reply;
      if (reply.status === OK) return answerOf(reply.message, apiVersion);
      if (reply.status !== UNIMPLEMENTED)
        return away(`its runtime answers ${reply.status} (${reply.words})`, 'look at the log of the engine');
    }
    return wrong(
      'it speaks gRPC, but serves no CRI',
      'where it is containerd, take "cri" out of disabled_plugins in /etc/containerd/config.toml and restart it',
    );
  } finally {
    session.destroy();
    socket.destroy();
  }
}

interface Reply {
  readonly status: number;
  /** The server's, where it failed. */
  readonly words: string;
  readonly message: Buffer;
}

function callVersion(session: ClientHttp2Session, apiVersion: 'v1' | 'v1alpha2', signal: AbortSignal): Promise<Reply | 'another protocol'> {
  return abortable(signal, (resolve) => {
    const call = session.request({
      ':method': 'POST',
      ':path': `/runtime.${apiVersion}.RuntimeService/Version`,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    let status: string | undefined;
    let words = '';
    const read = (headers: IncomingHttpHeaders): void => {
      status ??= textOf(headers['grpc-status']);
      words ||= textOf(headers['grpc-message']) ?? '';
    };
    call.on('response', read);
    call.on('trailers', read);
    call.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_ANSWER_BYTES) chunks.push(chunk);
      else call.close();
    });
    call.on('error', () => resolve('another protocol'));
    call.once('close', () => {
      const answered = status !== undefined && bytes <= MAX_ANSWER_BYTES;
      resolve(
        answered ? { status: Number(status), words, message: Buffer.concat(chunks).subarray(FRAME_HEADER_BYTES) } : 'another protocol',
      );
    });
    call.end(emptyMessage);
    return (aborted) => void (aborted && call.destroy());
  });
}

const textOf = (header: string | readonly string[] | undefined): string | undefined => (typeof header === 'string' ? header : header?.[0]);

/** VersionResponse (k8s.io/cri-api): 2 is the runtime's name, 3 its version. */
function answerOf(message: Buffer, apiVersion: 'v1' | 'v1alpha2'): EndpointAnswer {
  const fields = stringFields(message);
  const [name, version] = [fields?.get(2), fields?.get(3)];
  if (!name || !version)
    return wrong(
      'it speaks gRPC, but its answer to Version is none of a container runtime',
      'name another engine with --container-runtime-endpoint',
    );
  if (apiVersion === 'v1') return { speaks: 'cri', name, version, apiVersion };
  return wrong(
    `it is ${name} ${version}, whose CRI is ${apiVersion}`,
    `update ${name} to a version with CRI v1 (containerd 1.6, CRI-O 1.23)`,
  );
}
