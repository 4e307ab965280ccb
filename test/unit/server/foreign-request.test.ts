import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { foreignRequest } from '../../../src/server/foreign-request.ts';

const isForeign = (headers: IncomingHttpHeaders): boolean => foreignRequest(headers) !== undefined;

test('this machine is asked for by its own names, with any port', () => {
  for (const host of ['localhost', 'LOCALHOST:80', '127.0.0.1:8080', '127.9.9.9', '[::1]:8080'])
    assert.equal(foreignRequest({ host }), undefined, host);
});

test('a host that a name server may lead here is foreign', () => {
  for (const host of [
    'example.org',
    'localhost.example.org:8080',
    '127.0.0.1.example.org',
    '10.0.0.1',
    'a@localhost.org',
    '',
    '[::2]',
    'x y',
    'node',
  ])
    assert.match(foreignRequest({ host }) ?? '', /is not this machine's own name: ask for localhost/, host);
  assert.ok(isForeign({}));
});

test('what another site asks for is foreign, by either header that says so', () => {
  const host = 'localhost:8080';
  for (const site of ['cross-site', 'same-site', 'nonsense']) assert.ok(isForeign({ host, 'sec-fetch-site': site }), site);
  for (const site of ['same-origin', 'none']) assert.ok(!isForeign({ host, 'sec-fetch-site': site }), site);
  for (const origin of ['http://example.org', 'null', 'https://localhost:8080', 'http://localhost', 'http://localhost:8081', ''])
    assert.ok(isForeign({ host, origin }), origin);
  assert.ok(!isForeign({ host, origin: 'http://localhost:8080' }));
});
