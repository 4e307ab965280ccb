import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { nodeLogRoutes } from '../../../../src/server/routes/node-log-routes.ts';
import { makeWide } from '../../../builders/a-big-tree.ts';
import { serveRoutes, type ServedRoutes } from '../../../fakes/served-routes.ts';

let root: string;
let served: ServedRoutes;
beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'node-logs-')));
  mkdirSync(join(root, 'log/pods'), { recursive: true });
  mkdirSync(join(root, 'engine'));
  mkdirSync(join(root, 'log-of-others'));
  writeFileSync(join(root, 'log/syslog'), 'one\ntwo\n');
  writeFileSync(join(root, 'log/page.html'), '<script>alert(1)</script>');
  writeFileSync(join(root, 'log/journal'), Buffer.from([1, 0, 2]));
  writeFileSync(join(root, 'log/pods/a<b>&c.log'), 'odd\n');
  writeFileSync(join(root, 'engine/c.log'), 'container\n');
  writeFileSync(join(root, 'secret'), 'secret\n');
  writeFileSync(join(root, 'log-of-others/x'), 'secret\n');
  symlinkSync('../engine/c.log', join(root, 'log/container.log'));
  symlinkSync('../secret', join(root, 'log/leak'));
  symlinkSync('..', join(root, 'log/up'));
  symlinkSync('syslog', join(root, 'log/messages'));
  symlinkSync('nowhere', join(root, 'log/dangling'));
  execFileSync('mkfifo', [join(root, 'log/pipe')]);
  served = await serveRoutes(nodeLogRoutes({ directory: join(root, 'log'), linkTargets: async () => [join(root, 'engine')] }));
});
afterEach(async () => {
  await served.close();
  rmSync(root, { recursive: true });
});

const ask = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(served.url + path, { headers, redirect: 'manual' });

test('a directory is listed as Go lists it, names escaped', async () => {
  const answer = await ask('/logs/');
  assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
  const listed = [...(await answer.text()).matchAll(/<a href="([^"]*)">([^<]*)<\/a>\n/g)].map(([, link]) => link);
  assert.deepEqual(listed, ['container.log', 'dangling', 'journal', 'leak', 'messages', 'page.html', 'pipe', 'pods/', 'syslog', 'up']);
  assert.equal(await (await ask('/logs/pods/')).text(), '<pre>\n<a href="a%3Cb%3E&amp;c.log">a&lt;b&gt;&amp;c.log</a>\n</pre>\n');
});

test('a directory of very many files is not listed whole, and says so', async () => {
  makeWide(join(root, 'log/pods'), 12_000, (n) => Buffer.from(`file-${n}`));
  const text = await (await ask('/logs/pods/')).text();
  assert.equal(text.match(/<a /g)?.length, 10_000);
  assert.ok(text.endsWith('\nand more: only the first 10000 that were found are listed\n</pre>\n'));
});

test('a directory is asked for with a slash, a file without', async () => {
  for (const [path, location] of [
    ['/logs', 'logs/'],
    ['/logs/pods', 'pods/'],
    ['/logs/syslog/', '../syslog'],
  ] as const) {
    const answer = await ask(path);
    assert.deepEqual([answer.status, answer.headers.get('location')], [301, location], path);
  }
});

test('files are text or bytes, and never a page', async () => {
  for (const [path, type, length] of [
    ['/logs/syslog', 'text/plain; charset=utf-8', 8],
    ['/logs/messages', 'text/plain; charset=utf-8', 8],
    ['/logs/page.html', 'text/plain; charset=utf-8', 25],
    ['/logs/journal', 'application/octet-stream', 3],
    ['/logs/pods/a%3Cb%3E&c.log', 'text/plain; charset=utf-8', 4],
    ['/logs/container.log', 'text/plain; charset=utf-8', 10],
  ] as const) {
    const answer = await ask(path);
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, type], path);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.equal((await answer.arrayBuffer()).byteLength, length, path);
  }
});

test('a range of a file', async () => {
  for (const [range, status, text, said] of [
    ['bytes=4-', 206, 'two\n', 'bytes 4-7/8'],
    ['bytes=0-2', 206, 'one', 'bytes 0-2/8'],
    ['bytes=-4', 206, 'two\n', 'bytes 4-7/8'],
    ['bytes=-100', 206, 'one\ntwo\n', 'bytes 0-7/8'],
    ['bytes=2-100', 206, 'e\ntwo\n', 'bytes 2-7/8'],
    ['bytes=8-', 416, 'invalid range: failed to overlap\n', 'bytes */8'],
    ['bytes=3-1', 200, 'one\ntwo\n', null],
    ['lines=1-2', 200, 'one\ntwo\n', null],
  ] as const) {
    const answer = await ask('/logs/syslog', { Range: range });
    assert.deepEqual([answer.status, await answer.text(), answer.headers.get('content-range')], [status, text, said], range);
  }
});

/** Without the client's own tidying of the path. */
const raw = (path: string): Promise<{ readonly status: number | undefined; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const sent = request(served.url, { path }, (answer) => {
      let text = '';
      answer.on('data', (piece) => (text += String(piece)));
      answer.on('end', () => resolve({ status: answer.statusCode, text }));
    });
    sent.on('error', reject).end();
  });

test('nothing outside is ever read', async () => {
  for (const path of [
    '/logs/../secret',
    '/logs/..%2fsecret',
    '/logs/%2e%2e/secret',
    '/logs/pods/../../secret',
    '/logs/..%2flog-of-others%2fx',
    '/logs/%2fetc%2fpasswd',
    '/logs/leak',
    '/logs/up',
    '/logs/up/',
    '/logs/up/secret',
    '/logs/up/log-of-others/x',
    '/logs/dangling',
    '/logs/pipe',
    '/logs/missing',
    '/logs/syslog%00',
    '/logs/syslog/x',
  ]) {
    const { status, text } = await raw(path);
    assert(status === 404 || status === 301 || status === 400, `${path}: ${status}`);
    assert(!text.includes('secret') && !text.includes('root:'), path);
  }
});
