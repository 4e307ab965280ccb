import type { StreamsWanted } from '../../ports/container-access.ts';
import { HttpError } from '../../ports/route.ts';

export interface ExecQuery {
  readonly command: readonly string[];
  readonly wanted: StreamsWanted;
}

/**
 * What a request for exec or attach asks for. The API server sends the first name of each, people and the API's own documentation use
 * the second. With a terminal there is no error stream of its own, asked for or not. Throws HttpError 400 when no stream is wanted
 * (pkg/kubelet/cri/streaming/remotecommand NewOptions).
 */
export function execQuery(query: URLSearchParams): ExecQuery {
  const on = (...names: readonly string[]): boolean => names.some((name) => ['1', 'true'].includes(query.get(name) ?? ''));
  const tty = on('tty');
  const wanted = { stdin: on('input', 'stdin'), stdout: on('output', 'stdout'), stderr: on('error', 'stderr') && !tty, tty };
  if (!wanted.stdin && !wanted.stdout && !wanted.stderr) throw new HttpError(400, 'you must specify at least 1 of stdin, stdout, stderr');
  return { command: query.getAll('command'), wanted };
}
