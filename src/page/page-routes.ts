import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { HttpError, type Route } from '../ports/route.ts';

export const PAGE_PATH = '/rxlet/v1/page';

/** What the build makes of page/. */
const types: ReadonlyMap<string, string> = new Map([
  ['page.html', 'text/html; charset=utf-8'],
  ['page.js', 'text/javascript; charset=utf-8'],
  ['page.css', 'text/css; charset=utf-8'],
  ['icon.svg', 'image/svg+xml'],
]);

/** The page loads its own files and asks its own server, and nothing else; no other page may frame it. */
const headers = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  // An agent that was replaced brings another page.
  'Cache-Control': 'no-store',
} as const;

/** In the bundle the files are beside the code, in a checkout they are where the build puts them. */
const filesUrl = (): URL => new URL(import.meta.url.endsWith('.ts') ? '../../dist/page/' : './page/', import.meta.url);

/** GET /rxlet/v1/page, and the files that it loads, by names that go on from there: it works as well behind a proxy's own path. */
export function pageRoutes(directory: URL = filesUrl()): readonly Route[] {
  return [
    {
      methods: ['GET'],
      path: PAGE_PATH,
      debugging: true,
      page: 'home',
      handle: async ({ message }, response) => {
        const [path = ''] = (message.url ?? '').split('?');
        // Names go on from the last slash.
        if (path.endsWith('/')) response.writeHead(308, { Location: '../page', 'Content-Length': 0 }).end();
        else await sendFile(response, directory, 'page.html');
      },
    },
    {
      methods: ['GET'],
      path: `${PAGE_PATH}/{file}`,
      debugging: true,
      page: 'file',
      handle: ({ params: { file = '' } }, response) => sendFile(response, directory, file),
    },
  ];
}

async function sendFile(response: ServerResponse, directory: URL, name: string): Promise<void> {
  const type = types.get(name);
  if (type === undefined) throw new HttpError(404, `the page has no file ${JSON.stringify(name)}\n`);
  let body: Buffer;
  try {
    body = await readFile(new URL(name, directory));
  } catch (cause) {
    throw new HttpError(404, `the page is not built: ${name} is not there; 'npm run build' makes it\n`, { cause });
  }
  response.writeHead(200, { ...headers, 'Content-Type': type, 'Content-Length': body.length });
  response.end(body);
}
