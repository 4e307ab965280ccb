import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { requestLabels } from '../../../src/server/request-labels.ts';

describe('a request is counted as', () => {
  for (const [method, url, counted, path, longRunning] of [
    ['GET', '/pods', 'GET', 'pods', false],
    ['GET', '/metrics/cadvisor?x=1', 'GET', 'metrics/cadvisor', false],
    ['GET', '/metrics', 'GET', 'metrics', false],
    ['GET', '/metrics/', 'GET', 'other', false],
    ['POST', '/exec/a/b/c?command=ls', 'POST', 'exec', true],
    ['GET', '/debug/pprof/heap', 'GET', 'debug', true],
    ['POST', '/portForward/a/b', 'POST', 'portForward', false],
    ['PROPFIND', '/anything/at/all', 'other', 'other', false],
    ['GET', '/', 'GET', 'other', false],
  ] as const) {
    test(`${method} ${url}`, () => {
      assert.deepEqual(requestLabels(method, url, 'readwrite'), { method: counted, path, serverType: 'readwrite', longRunning });
    });
  }
});
