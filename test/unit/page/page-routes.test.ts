import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { pageRoutes } from '../../../src/page/page-routes.ts';
import { serveRoutes, type ServedRoutes } from '../../fakes/served-routes.ts';

let directory: string;
let served: ServedRoutes;
before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rxlet-page-'));
  writeFileSync(join(directory, 'page.html'), '<!doctype html>');
  writeFileSync(join(directory, 'page.js'), '1');
  writeFileSync(join(directory, 'secret'), 'secret');
  served = await serveRoutes(pageRoutes(pathToFileURL(`${directory}/`)));
});
after(async () => {
  await served.close();
  rmSync(directory, { recursive: true });
});

const get = (path: string, method = 'GET'): Promise<Response> => fetch(`${served.url}${path}`, { method, redirect: 'manual' });

test('the page runs its own files and nothing else, and is framed by nobody', async () => {
  const answer = await get('/rxlet/v1/page');
  assert.equal(await answer.text(), '<!doctype html>');
  assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
  const policy = answer.headers.get('content-security-policy') ?? '';
  for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"])
    assert.ok(policy.includes(part), part);
  assert.doesNotMatch(policy, /unsafe|https?:|\*|data:/);
  assert.deepEqual(
    [
      'x-content-type-options',
      'referrer-policy',
      'cross-origin-opener-policy',
      'cross-origin-resource-policy',
      'x-frame-options',
      'cache-control',
    ].map((name) => answer.headers.get(name)),
    ['nosniff', 'no-referrer', 'same-origin', 'same-origin', 'DENY', 'no-store'],
  );
});

test('its files have their types, and no other file is served', async () => {
  const script = await get('/rxlet/v1/page/page.js');
  assert.deepEqual([script.headers.get('content-type'), await script.text()], ['text/javascript; charset=utf-8', '1']);
  for (const name of ['secret', 'page.js.map', '..%2fpage.js', 'constructor', '.'])
    assert.notEqual((await get(`/rxlet/v1/page/${name}`)).status, 200, name);
});

test('a file that the build has not made is said to be missing, with what makes it', async () => {
  const answer = await get('/rxlet/v1/page/page.css');
  assert.deepEqual([answer.status, await answer.text()], [404, "the page is not built: page.css is not there; 'npm run build' makes it\n"]);
});

test('HEAD is answered, with a slash at the end the page is found, and nothing is written', async () => {
  const head = await get('/rxlet/v1/page', 'HEAD');
  assert.deepEqual([head.status, head.headers.get('content-length'), await head.text()], [200, '15', '']);
  const slash = await get('/rxlet/v1/page/');
  assert.deepEqual([slash.status, slash.headers.get('location')], [308, '../page']);
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) assert.equal((await get('/rxlet/v1/page', method)).status, 405, method);
});
