import type { IncomingMessage } from 'node:http';

/** Hands on each line of an endless answer, parsed. A connection that breaks just ends it. */
export function onJsonLines(response: IncomingMessage, onLine: (line: unknown) => void): void {
  let rest = '';
  response.setEncoding('utf8');
  response.on('error', () => {});
  response.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.filter(Boolean)) onLine(JSON.parse(line));
  });
}
