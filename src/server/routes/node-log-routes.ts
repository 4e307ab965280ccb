import { constants } from 'node:fs';
import { type FileHandle, open, opendir, readlink, realpath } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { resolve, sep } from 'node:path';
import { HttpError, type Route, type RouteRequest } from '../../ports/route.ts';
import { sendText, writeTo } from '../../ports/answer.ts';
import { byteRange } from './byte-range.ts';
import { logQuery } from './log-query.ts';
import { sendServiceLogs, type ServiceLogDeps } from './service-logs.ts';

export interface NodeLogDeps {
  /** "/var/log". */
  readonly directory: string;
  /** Where links from there may lead, too: where the engine keeps the logs of containers. Anything else outside is not there. */
  readonly linkTargets?: (signal: AbortSignal) => Promise<readonly string[]>;
  /** Rejects where a path leads to a file system that does not answer: to look there would hold a thread for ever. */
  readonly answers?: (path: string, signal: AbortSignal) => Promise<void>;
  /** For log queries; undefined: they are not served, and files are browsed whatever the query says. */
  readonly queries?: Omit<ServiceLogDeps, 'readLog'> | undefined;
}

/** A pod that may write below the directory makes as many files there as it likes. */
const MAX_LISTED = 10_000;
const PIECE_BYTES = 64 * 1024;
const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };

/**
 * /logs/: the node's own logs, listed and read as Go's file server does it, in plain text or as bytes, never as a page. What a link leads to
 * is read only below the directory and the targets that are named: what was opened is looked at, so a link that changes meanwhile
 * leads nowhere. With a query, what services have logged, or one file.
 */
export function nodeLogRoutes(deps: NodeLogDeps): readonly Route[] {
  const handle: Route['handle'] = (request, response) => answer(deps, request, response);
  return [{ methods: ['GET'], path: '/logs/{rest*}', debugging: true, handle }];
}

async function answer(deps: NodeLogDeps, request: RouteRequest, response: ServerResponse): Promise<void> {
  const { params, query, message, signal } = request;
  const below = params['rest'] ?? '';
  const asked = (message.url ?? '').split('?')[0] ?? '';
  const wanted = deps.queries && logQuery(query, below);
  if (deps.queries === undefined || wanted === undefined) {
    await sendLogFile(deps, below, asked, request, response);
  } else if ('file' in wanted) {
    await sendAskedFile(deps, wanted.file, request, response);
  } else {
    await sendServiceLogs({ ...deps.queries, readLog: (path, until) => readLog(deps, path, until) }, wanted, response, signal);
  }
}

async function sendAskedFile(deps: NodeLogDeps, file: string, request: RouteRequest, response: ServerResponse): Promise<void> {
  try {
    await sendLogFile(deps, file, file, request, response);
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 404) throw error;
    const path = resolve(deps.directory, `./${file}`);
    throw new HttpError(406, `query: Invalid value: ${JSON.stringify([file])}: stat ${path}: no such file or directory\n`);
  }
}

/** `asked` tells by its last character whether a directory is meant. */
async function sendLogFile(
  deps: NodeLogDeps,
  below: string,
  asked: string,
  request: RouteRequest,
  response: ServerResponse,
): Promise<void> {
  const { file, path } = await openBelow(deps, below, request.signal);
  try {
    const stat = await file.stat();
    if (stat.isDirectory()) {
      if (asked.endsWith('/')) await sendListing(path, response);
      else redirect(response, `${asked.split('/').at(-1)}/`);
    } else if (!stat.isFile()) {
      throw notFound();
    } else if (asked.endsWith('/')) {
      redirect(response, `../${asked.split('/').at(-2)}`);
    } else {
      await sendFile(file, stat, request, response);
    }
  } finally {
    await file.close();
  }
}

/** The bytes that a file has now. */
async function readLog(deps: NodeLogDeps, below: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined> {
  const opened = await openBelow(deps, below, signal).catch((error: unknown) => {
    if (error instanceof HttpError && error.status === 404) return undefined;
    throw error;
  });
  if (opened === undefined) return undefined;
  const stat = await opened.file.stat();
  if (stat.isFile()) return piecesOf(opened.file, stat.size);
  await opened.file.close();
  return undefined;
}

async function* piecesOf(file: FileHandle, size: number): AsyncGenerator<Uint8Array, void> {
  try {
    for (let at = 0; at < size;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE_BYTES), 0, Math.min(PIECE_BYTES, size - at), at);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}

async function openBelow(
  { directory, linkTargets, answers }: NodeLogDeps,
  below: string,
  signal: AbortSignal,
): Promise<{ file: FileHandle; path: string }> {
  const wanted = resolve(directory, `./${below}`);
  if (below.includes('\0') || !isBelow(wanted, resolve(directory))) throw notFound();
  let file: FileHandle | undefined;
  try {
    await answers?.(wanted, signal);
    const targets = (await linkTargets?.(signal)) ?? [];
    const roots = await Promise.all([directory, ...targets].map((root) => realpath(root).catch(() => undefined)));
    const allowed = (path: string): boolean => roots.some((root) => root !== undefined && isBelow(path, root));
    // Looked at before, too: to open a device may do something to it. A pipe without a writer is not waited for.
    const real = await realpath(wanted);
    if (!allowed(real)) throw notFound();
    file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW);
    const path = await readlink(`/proc/self/fd/${file.fd}`);
    if (!allowed(path)) throw notFound();
    return { file, path };
  } catch (error) {
    await file?.close();
    throw error instanceof HttpError ? error : notFound();
  }
}

const isBelow = (path: string, root: string): boolean => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);

async function sendListing(path: string, response: ServerResponse): Promise<void> {
  const { names, isAll } = await namesIn(path);
  // A name with a colon would be read as a scheme.
  const lines = names.map((name) => {
    const link = encodeURI(name).replaceAll('?', '%3F').replaceAll('#', '%23');
    return `<a href="${escaped(name.split('/')[0]?.includes(':') ? `./${link}` : link)}">${escaped(name)}</a>\n`;
  });
  const rest = isAll ? '' : `and more: only the first ${MAX_LISTED} that were found are listed\n`;
  sendText(response, `<pre>\n${lines.join('')}${rest}</pre>\n`, { type: 'text/html; charset=utf-8' });
}

/** Sorted. */
async function namesIn(path: string): Promise<{ readonly names: readonly string[]; readonly isAll: boolean }> {
  const names: string[] = [];
  let isAll = true;
  for await (const entry of await opendir(path, { bufferSize: 256 })) {
    if (names.length === MAX_LISTED) {
      isAll = false;
      break;
    }
    names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
  }
  return { names: names.toSorted(), isAll };
}

async function sendFile(
  file: FileHandle,
  { size, mtime }: { readonly size: number; readonly mtime: Date },
  { message, signal }: RouteRequest,
  response: ServerResponse,
): Promise<void> {
  const range = byteRange(message.headers.range, size);
  response.setHeader('Accept-Ranges', 'bytes');
  response.setHeader('Last-Modified', mtime.toUTCString());
  response.setHeader('X-Content-Type-Options', 'nosniff');
  if (range === 'unsatisfiable') {
    response.setHeader('Content-Range', `bytes */${size}`);
    sendText(response, 'invalid range: failed to overlap\n', { status: 416 });
    return;
  }
  const { start, end } = range ?? { start: 0, end: size };
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  const head = await file.read(buffer, 0, 512, 0);
  const binary = buffer.subarray(0, head.bytesRead).includes(0);
  response.writeHead(range ? 206 : 200, {
    'Content-Type': binary ? 'application/octet-stream' : 'text/plain; charset=utf-8',
    'Content-Length': end - start,
    ...(range ? { 'Content-Range': `bytes ${start}-${end - 1}/${size}` } : {}),
  });
  // Up to the length that was announced: a log grows while it is read. Each piece is copied: the response may keep it.
  for (let at = start; at < end;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(PIECE_BYTES, end - at), at);
    if (bytesRead === 0) throw new Error('log file was cut while it was read');
    if (!(await writeTo(response, Buffer.from(buffer.subarray(0, bytesRead)), signal))) return;
    at += bytesRead;
  }
  response.end();
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(301, { Location: location, 'Content-Length': 0 });
  response.end();
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] ?? '');
const notFound = (): HttpError => new HttpError(404, '404 page not found\n');
