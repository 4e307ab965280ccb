import { type IncomingMessage, request, type RequestOptions } from 'node:http';
import { abortable } from '../../base/abortable.ts';
import { errorCode } from '../../base/error-code.ts';
import type { EngineEndpoint } from '../../model/engine-endpoint.ts';
import { type EndpointAnswer, wrong } from './endpoint-answer.ts';

/** Older ones lose events, which pods wait for. */
const OLDEST_PODMAN = 5;
/** Docker 20.10, the oldest that is tried. */
const OLDEST_API = [1, 41] as const;

/**
 * Asks by HTTP/1 for GET /_ping, whose headers say who answers: of Podman, GET /version runs other programs first. Rejects with the error of the
 * connection, or the signal's reason.
 */
export async function askDocker(at: EngineEndpoint, signal: AbortSignal): Promise<EndpointAnswer | 'another protocol'> {
  const where: RequestOptions =
    'socketPath' in at ? { socketPath: at.socketPath } : { host: at.host.replaceAll(/[[\]]/g, ''), port: Number(at.port) };
  const response = await abortable<IncomingMessage | 'another protocol'>(signal, (resolve, reject) => {
    const asked = request({ ...where, path: '/_ping', headers: { host: 'docker', connection: 'close' }, agent: false });
    asked.once('response', (answer) => {
      answer.on('error', () => {});
      answer.destroy();
      resolve(answer);
    });
    // Node's parser (HPE_…) did not understand what came; who speaks HTTP/2 alone may also close the connection without a word.
    asked.on('error', (error) => (isNoHttp(error) ? resolve('another protocol') : reject(error)));
    asked.end();
    return (aborted) => void (aborted && asked.destroy());
  });
  return response === 'another protocol' ? response : answerOf(response);
}

function isNoHttp(error: Error): boolean {
  const code = errorCode(error) ?? '';
  return code.startsWith('HPE_') || code === 'ECONNRESET' || code === 'EPIPE';
}

/** "Docker/28.5.2 (linux)", "Libpod/5.8.6 (linux)"; a proxy before them may leave that out. */
function answerOf({ statusCode, headers }: IncomingMessage): EndpointAnswer {
  const apiVersion = headers['api-version'];
  if (typeof apiVersion !== 'string')
    return wrong(
      `it speaks HTTP, but is no container engine: GET /_ping answered ${statusCode} without a version`,
      'name the socket of an engine with --container-runtime-endpoint',
    );
  const [, product, version = ''] = /^(\w+)\/(\S+)/.exec(String(headers['server'] ?? '')) ?? [];
  if (product === 'Libpod') {
    if (Number.parseInt(version, 10) >= OLDEST_PODMAN) return { speaks: 'docker', name: 'podman', version, apiVersion };
    return wrong(`it is Podman ${version}, which loses events`, `update Podman to ${OLDEST_PODMAN} or later`);
  }
  const [, major = 0, minor = 0] = (/^(\d+)\.(\d+)/.exec(apiVersion) ?? []).map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_API;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor))
    return { speaks: 'docker', name: 'docker', version, apiVersion };
  return wrong(`it is Docker ${version}, whose API is ${apiVersion}`, `update Docker to 20.10 (API ${OLDEST_API.join('.')}) or later`);
}
