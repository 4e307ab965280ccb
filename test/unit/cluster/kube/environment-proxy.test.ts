import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { environmentProxy } from '../../../../src/cluster/kube/environment-proxy.ts';
import { proxyName } from '../../../../src/cluster/kube/proxy.ts';

/** "http://p:3128 (HTTPS_PROXY)", or nothing. */
function proxyFor(server: string, env: Readonly<Record<string, string>>): string | undefined {
  const proxy = environmentProxy(new URL(server), env);
  return proxy && proxyName(proxy);
}

const both = { HTTPS_PROXY: 'http://secure:3128', HTTP_PROXY: 'http://plain:3128' };

describe('the environment names the proxy', () => {
  for (const [server, env, expected] of [
    ['https://10.0.0.1:6443', {}, undefined],
    ['https://10.0.0.1:6443', both, 'http://secure:3128 (HTTPS_PROXY)'],
    ['http://10.0.0.1:8080', both, 'http://plain:3128 (HTTP_PROXY)'],
    ['https://10.0.0.1:6443', { HTTP_PROXY: 'http://plain' }, undefined],
    ['https://10.0.0.1', { https_proxy: 'http://small:1' }, 'http://small:1 (https_proxy)'],
    ['https://10.0.0.1', { https_proxy: 'http://small:1', HTTPS_PROXY: 'http://large:1' }, 'http://large:1 (HTTPS_PROXY)'],
    ['https://10.0.0.1', { https_proxy: 'http://small:1', HTTPS_PROXY: '' }, 'http://small:1 (https_proxy)'],
    ['https://10.0.0.1', { HTTPS_PROXY: 'proxy:3128' }, 'http://proxy:3128 (HTTPS_PROXY)'],
    ['https://10.0.0.1', { HTTPS_PROXY: 'socks5://u:p@proxy:1080' }, 'socks5://proxy:1080 (HTTPS_PROXY)'],
    ['https://localhost:6443', both, undefined],
    ['https://127.3.2.1:6443', both, undefined],
    ['https://[::1]:6443', both, undefined],
  ] as const) {
    test(`${server} with ${JSON.stringify(env)}`, () => assert.equal(proxyFor(server, env), expected));
  }
});

describe('NO_PROXY excepts', () => {
  for (const [entry, excepted, not] of [
    ['*', ['https://a', 'https://10.0.0.1:6443'], []],
    ['10.0.0.0/8', ['https://10.255.0.1'], ['https://11.0.0.1', 'https://api.example']],
    ['fd00::/8', ['https://[fd12::1]:6443'], ['https://[fe80::1]', 'https://10.0.0.1']],
    ['10.0.0.1', ['https://10.0.0.1:6443'], ['https://10.0.0.2', 'https://10.0.0.11']],
    ['10.0.0.1:6443', ['https://10.0.0.1:6443'], ['https://10.0.0.1']],
    ['10.0.0.1:443', ['https://10.0.0.1'], ['https://10.0.0.1:6443']],
    ['fd12::1', ['https://[fd12:0:0::1]:6443'], ['https://[fd12::2]']],
    ['[fd12::1]:6443', ['https://[fd12::1]:6443'], ['https://[fd12::1]']],
    ['example.com', ['https://example.com', 'https://api.example.com:6443', 'https://API.Example.COM'], ['https://badexample.com']],
    ['.example.com', ['https://api.example.com'], ['https://example.com']],
    ['*.example.com', ['https://api.example.com'], ['https://example.com']],
    ['example.com:6443', ['https://api.example.com:6443'], ['https://api.example.com']],
    [' a , api.example.com ,', ['https://api.example.com'], ['https://b']],
    [':6443', [], ['https://a:6443']],
    ['10.0.0.0/33', [], ['https://10.0.0.1']],
    ['bücher.example', ['https://xn--bcher-kva.example'], ['https://bucher.example']],
  ] as const) {
    test(entry, () => {
      for (const server of excepted) assert.equal(proxyFor(server, { ...both, NO_PROXY: entry }), undefined, server);
      for (const server of not) assert.ok(proxyFor(server, { ...both, NO_PROXY: entry }), server);
    });
  }

  test('in small letters, too', () => assert.equal(proxyFor('https://a', { ...both, no_proxy: 'a' }), undefined));
});

for (const value of ['ftp://proxy', 'http://', 'http://u:%zz@proxy']) {
  test(`"${value}" is no proxy, which is said without repeating it`, () => {
    assert.throws(() => proxyFor('https://a', { HTTPS_PROXY: value }), {
      name: 'KubeconfigError',
      message: /^HTTPS_PROXY in the environment: (?!.*%zz)/,
    });
  });
}
