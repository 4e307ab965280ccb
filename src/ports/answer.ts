import type { IncomingMessage, ServerResponse } from 'node:http';
import { abortable } from '../base/abortable.ts';
import { HttpError } from './route.ts';

const PLAIN_TEXT = 'text/plain; charset=utf-8';
/** More than most bodies that a route here takes. */
const MAX_BODY_BYTES = 64 * 1024;

/** What people or scripts read; a browser must not take it for anything else. */
export function sendText(response: ServerResponse, text: string, { status = 200, type = PLAIN_TEXT } = {}): void {
  const body = Buffer.from(text);
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': body.length, 'X-Content-Type-Options': 'nosniff' });
  response.end(body);
}

export function sendJson(response: ServerResponse, value: unknown): void {
  sendText(response, JSON.stringify(value), { type: 'application/json' });
}

/** Begins an answer whose length is not known yet; what the client needs not wait for goes out at once. */
export function beginStream(response: ServerResponse, type = PLAIN_TEXT): void {
  response.writeHead(200, { 'Content-Type': type, 'X-Content-Type-Options': 'nosniff' });
  response.flushHeaders();
}

/** Hands bytes over; resolves when there is room for more. False: the reader has gone. */
export async function writeTo(response: ServerResponse, bytes: Uint8Array, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted || response.destroyed) return false;
  if (response.write(bytes)) return true;
  const moved = abortable<void>(signal, (resolve) => {
    const done = (): void => resolve();
    response.on('drain', done).on('close', done);
    return () => void response.off('drain', done).off('close', done);
  });
  await moved.catch(() => {});
  return !signal.aborted && !response.destroyed;
}

/** As `writeTo`, but resolves when the bytes have left: they may be overwritten then. */
export async function flushTo(response: ServerResponse, bytes: Uint8Array, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted || response.destroyed) return false;
  const left = abortable<void>(signal, (resolve) => {
    const done = (): void => resolve();
    response.on('close', done);
    response.write(bytes, done);
    return () => void response.off('close', done);
  });
  await left.catch(() => {});
  return !signal.aborted && !response.destroyed;
}

/** A request's body as text. Rejects with 413 for one that is too long to be meant. */
export async function readBody(message: IncomingMessage, mostBytes = MAX_BODY_BYTES): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of message) {
    const bytes = Buffer.from(piece);
    length += bytes.length;
    if (length > mostBytes) throw new HttpError(413, 'request body is too large');
    pieces.push(bytes);
  }
  return Buffer.concat(pieces).toString();
}
