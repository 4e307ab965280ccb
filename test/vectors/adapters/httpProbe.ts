import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../src/base/clock.ts';
import { httpProbe } from '../../../src/probes/http-probe.ts';
import { probeUrl } from '../../../src/probes/probe-request.ts';

interface In {
  readonly path: string;
  readonly headers?: Readonly<Record<string, readonly string[]>>;
  readonly timeoutMs: number;
  readonly closed?: boolean;
  readonly responses: Readonly<Record<string, { status?: number; location?: string; body?: string; delayMs?: number }>>;
}

/** Answers as told and notes what it saw, with header names as Go's server has them. */
export const run = async ({ path, headers = {}, timeoutMs, closed = false, responses }: In): Promise<unknown> => {
  const requests: unknown[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const server = createServer((request, response) => {
    const lines = pairs(request.rawHeaders);
    const hosts = lines.filter(([name]) => name.toLowerCase() === 'host');
    // Go's server refuses two Host headers, which Node's lets pass.
    if (hosts.length > 1) {
      response.writeHead(400).end();
      return;
    }
    const seen: Record<string, string[]> = {};
    for (const [name, value] of lines) if (name.toLowerCase() !== 'host') (seen[canonical(name)] ??= []).push(utf8(value));
    requests.push({ path: request.url, host: hosts[0]?.[1], headers: seen });
    const wanted = responses[decodedPath(request.url ?? '')];
    const timer = setTimeout(() => answer(response, wanted, port), wanted?.delayMs ?? 0);
    timers.add(timer);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    for (const timer of timers) clearTimeout(timer);
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  if (closed) await stop();
  try {
    const options = { clock: systemClock, timeoutMs, userAgent: 'kube-probe/1.20' };
    const { result, output } = await httpProbe(
      probeUrl('http', '127.0.0.1', port, path),
      new Map(Object.entries(headers)),
      options,
      new AbortController().signal,
    );
    return JSON.parse(JSON.stringify({ result, output: shown(output), requests }).replaceAll(String(port), 'PORT'));
  } finally {
    if (!closed) await stop();
  }
};

function answer(response: ServerResponse, wanted: In['responses'][string] | undefined, port: number): void {
  const { status = wanted ? 200 : 404, location, body = '' } = wanted ?? {};
  if (location !== undefined) response.setHeader('Location', Buffer.from(location.replaceAll('PORT', String(port))).toString('latin1'));
  response.writeHead(status).end(body.replace(/<(\d+) x '(.)'>/g, (_, count: string, char: string) => char.repeat(Number(count))));
}

function pairs(raw: readonly string[]): readonly (readonly [string, string])[] {
  return raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1] ?? ''] as const] : []));
}

const utf8 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString();

/** Without the query, and each escape as what it stands for. */
function decodedPath(url: string): string {
  const [path = ''] = url.split('?');
  return utf8(path.replace(/%([0-9a-fA-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))));
}

function canonical(name: string): string {
  return name.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

function shown(output: string): string {
  return output.length > 100 && /^(.)\1*$/.test(output) ? `<${output.length} x '${output.charAt(0)}'>` : output;
}
