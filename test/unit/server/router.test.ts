import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Route } from '../../../src/ports/route.ts';
import { debuggingPaths } from '../../../src/server/closed-paths.ts';
import { Router } from '../../../src/server/router.ts';

const route = (methods: Route['methods'], path: string, more: Partial<Route> = {}): Route => ({ methods, path, ...more });
const routes: readonly Route[] = [
  route(['GET'], '/logs/{rest*}', { debugging: true }),
  route(['GET'], '/exec/{namespace}/{pod}/{container}', { debugging: true }),
  route(['POST'], '/exec/{namespace}/{pod}/{container}', { debugging: true }),
  route(['GET', 'POST'], '/exec/{namespace}/{pod}/{uid}/{container}', { debugging: true }),
  route(['GET'], '/pods', { readOnly: true }),
  route(['GET'], '/runningpods/', { debugging: true }),
  route(['GET'], '/configz', { debugging: true }),
  route(['GET'], '/metrics', { readOnly: true }),
  route(['GET'], '/metrics/{name}', { readOnly: true }),
  route(['GET'], '/metrics/cadvisor', { readOnly: true }),
];
const answer = (method: string, path: string, debugging = true): unknown => {
  const found = new Router(routes, { debugging, closed: debugging ? [] : debuggingPaths }).find(method, path);
  return 'route' in found ? [found.route.path, found.params] : [found.status, found.message];
};

describe('the router finds', () => {
  for (const [method, path, template, params] of [
    ['GET', '/pods', '/pods', {}],
    ['GET', '/pods/', '/pods', {}],
    ['HEAD', '/pods', '/pods', {}],
    ['GET', '/runningpods', '/runningpods/', {}],
    ['GET', '/runningpods/', '/runningpods/', {}],
    ['GET', '/metrics/cadvisor', '/metrics/cadvisor', {}],
    ['GET', '/metrics/other', '/metrics/{name}', { name: 'other' }],
    ['POST', '/exec/a/b/c', '/exec/{namespace}/{pod}/{container}', { namespace: 'a', pod: 'b', container: 'c' }],
    ['GET', '/exec/a/b/u/c', '/exec/{namespace}/{pod}/{uid}/{container}', { namespace: 'a', pod: 'b', uid: 'u', container: 'c' }],
    ['GET', '/logs', '/logs/{rest*}', { rest: '' }],
    ['GET', '/logs/', '/logs/{rest*}', { rest: '' }],
    ['GET', '/logs/a/b', '/logs/{rest*}', { rest: 'a/b' }],
  ] as const) {
    test(`${method} ${path}`, () => assert.deepEqual(answer(method, path), [template, params]));
  }
});

describe('the router has no route for', () => {
  for (const [method, path, status, message] of [
    ['GET', '/', 404, '404 page not found\n'],
    ['GET', '/nothing/here', 404, '404 page not found\n'],
    ['GET', '/pods/x', 404, '404: Page Not Found'],
    ['GET', '/exec/a/b', 404, '404: Page Not Found'],
    ['GET', '/exec/a/b/u/c/d', 404, '404: Page Not Found'],
    ['DELETE', '/pods', 405, '405: Method Not Allowed'],
    ['HEAD', '/logs', 405, '405: Method Not Allowed'],
    ['PUT', '/exec/a/b/c', 405, '405: Method Not Allowed'],
    ['get', '/pods', 405, '405: Method Not Allowed'],
  ] as const) {
    test(`${method} ${path}`, () => assert.deepEqual(answer(method, path), [status, message]));
  }
});

test('without debugging handlers their paths say so, whatever the method, and the rest goes on', () => {
  const disabled = [405, 'Debug endpoints are disabled.\n'];
  for (const path of ['/exec/a/b/c', '/exec', '/run/a/b/c', '/logs/', '/runningpods', '/debug/pprof/heap']) {
    assert.deepEqual(answer('POST', path, false), disabled, path);
  }
  assert.deepEqual(answer('GET', '/pods', false), ['/pods', {}]);
  assert.deepEqual(answer('GET', '/configz', false), [404, '404 page not found\n']);
  assert.deepEqual(answer('GET', '/executor', false), [404, '404 page not found\n']);
});

test('what is not allowed names what is', () => {
  const found = new Router(routes, { debugging: true }).find('PUT', '/exec/a/b/c');
  assert.equal('allow' in found ? found.allow : undefined, 'GET, POST');
});
