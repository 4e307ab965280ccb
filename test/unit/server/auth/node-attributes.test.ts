import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nodeAttributes } from '../../../../src/server/auth/node-attributes.ts';

describe('a request touches of the node', () => {
  for (const [method, path, verb, ...subresources] of [
    ['GET', '/stats/summary', 'get', 'stats'],
    ['POST', '/stats', 'create', 'stats'],
    ['GET', '/stats/', 'get', 'stats'],
    ['GET', '/statsx', 'get', 'proxy'],
    ['GET', '/metrics', 'get', 'metrics'],
    ['GET', '/metrics/cadvisor', 'get', 'metrics'],
    ['GET', '/logs', 'get', 'log'],
    ['GET', '/logs/a/b', 'get', 'log'],
    ['GET', '/spec/', 'get', 'spec'],
    ['POST', '/checkpoint/a/b/c', 'create', 'checkpoint'],
    ['GET', '/pods', 'get', 'pods', 'proxy'],
    ['GET', '/runningpods/', 'get', 'pods', 'proxy'],
    ['GET', '/healthz/syncloop', 'get', 'healthz', 'proxy'],
    ['GET', '/configz', 'get', 'configz', 'proxy'],
    ['GET', '/statusz', 'get', 'statusz'],
    ['GET', '/flagz', 'get', 'configz'],
    ['GET', '/containerLogs/a/b/c', 'get', 'proxy'],
    ['POST', '/exec/a/b/c', 'create', 'proxy'],
    ['PUT', '/debug/flags/v', 'update', 'proxy'],
    ['PATCH', '/', 'patch', 'proxy'],
    ['DELETE', '/unknown', 'delete', 'proxy'],
    ['HEAD', '/pods', '', 'pods', 'proxy'],
    ['constructor', '/pods', '', 'pods', 'proxy'],
  ] as const) {
    test(`${method} ${path}`, () => assert.deepEqual(nodeAttributes(method, path), { verb, subresources }));
  }
});
