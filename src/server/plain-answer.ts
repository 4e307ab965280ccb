import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

const plainHeaders = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' } as const;

/** Answers with a text and nothing else; the connection goes on if the request had no body. */
export function answerText(response: ServerResponse, status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
  const { req } = response;
  const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
  // What is not read would have to be read and thrown away.
  if (hasBody) response.shouldKeepAlive = false;
  response.writeHead(status, { ...plainHeaders, 'Content-Length': Buffer.byteLength(text), ...headers });
  response.end(text);
}

/** The same where there is no response any more, or not yet: on the connection itself, which ends. */
export function answerOnSocket(socket: Duplex, status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
  const all = { ...plainHeaders, 'Content-Length': String(Buffer.byteLength(text)), Connection: 'close', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${lines.join('')}\r\n${text}`);
}
