import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { queryOf, requestTarget } from '../../../src/server/request-target.ts';

describe('a request target', () => {
  for (const [url, path, query] of [
    ['/pods', '/pods', ''],
    ['/runningpods/', '/runningpods/', ''],
    ['/exec/a/b/c?command=ls&command=%2F', '/exec/a/b/c', 'command=ls&command=%2F'],
    ['/containerLogs/ns/p%2Dod/c', '/containerLogs/ns/p-od/c', ''],
    ['/pods#x', '/pods', ''],
    ['https://node:10250/pods?a=1', '/pods', 'a=1'],
    ['/', '/', ''],
  ] as const) {
    test(`${url} is ${path}`, () => {
      const target = requestTarget(url);
      assert.deepEqual('search' in target ? [target.path, queryOf(target.search)?.toString()] : target, [path, query]);
    });
  }
  for (const [url, redirect] of [
    ['//pods', '/pods'],
    ['/logs/../exec/a', '/exec/a'],
    ['/logs/%2e%2e/exec/a?x=1', '/exec/a?x=1'],
    ['/logs/..%2Fexec/', '/exec/'],
    ['/./pods/.', '/pods'],
    ['/../../a b', '/a%20b'],
    ['//evil.example/%2f..', '/'],
  ] as const) {
    test(`${url} is sent to ${redirect}`, () =>
      assert.deepEqual(requestTarget(url), { redirect, path: decodeURIComponent(redirect.replace(/\?.*/, '')) }));
  }
  for (const url of ['*', '', 'node:443', '/%', '/%ff', 'ftp://a/b']) {
    test(`"${url}" is a fault`, () => assert('fault' in requestTarget(url)));
  }
});
