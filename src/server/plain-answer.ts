import type { ServerResponse } from 'node:http';

/** Answers with a text and nothing else; the connection goes on if the request had no body. */
export function answerText(response: ServerResponse, status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
  const { req } = response;
  const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
  // What is not read would have to be read and thrown away.
  if (hasBody) response.shouldKeepAlive = false;
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}
