import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { describe, test } from 'node:test';
import { accessControl } from '../../../../src/server/auth/access-control.ts';
import { type AuthenticatorOptions, requestAuthenticator } from '../../../../src/server/auth/request-authenticator.ts';
import type { UserInfo } from '../../../../src/server/auth/user-info.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

const asker = { peer: '10.0.0.1', signal: new AbortController().signal };
const nobody = (): undefined => undefined;
const someone = (name: string) => (): UserInfo => ({ name, groups: ['o'] });
const bad = (): never => {
  throw new Error('client certificate 1: CERT_HAS_EXPIRED');
};
const reviewer = async (token: string): Promise<UserInfo | undefined> => {
  if (token === 'broken') throw new Error('no API server');
  return token === 'good' ? { name: 'token-user', groups: [] } : undefined;
};
const all: AuthenticatorOptions = { certificates: true, tokens: reviewer, anonymous: false };
const webSocket = (protocols: string): IncomingHttpHeaders => ({
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-protocol': protocols,
});
const hidden = (token: string): string => `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;

describe('who it is:', () => {
  for (const [it, options, headers, certificateUser, expected] of [
    ['a certificate names the user', all, {}, someone('cert'), 'cert'],
    ['a certificate goes before a token', all, { authorization: 'Bearer good' }, someone('cert'), 'cert'],
    ['a good token makes up for a bad certificate', all, { authorization: 'Bearer good' }, bad, 'token-user'],
    ['a good certificate makes up for a bad token', all, { authorization: 'Bearer wrong' }, someone('cert'), 'cert'],
    ['a bad certificate is refused', all, {}, bad, 'refused'],
    ['a bad certificate is not anonymous', { ...all, anonymous: true }, {}, bad, 'refused'],
    ['an unknown token is refused', all, { authorization: 'Bearer wrong' }, nobody, 'refused'],
    ['an unknown token is not anonymous', { ...all, anonymous: true }, { authorization: 'bearer wrong' }, nobody, 'refused'],
    ['a token that cannot be checked is refused', { ...all, anonymous: true }, { authorization: 'Bearer broken' }, nobody, 'refused'],
    ['no credentials are anonymous where that is allowed', { ...all, anonymous: true }, {}, nobody, 'system:anonymous'],
    ['no credentials are nobody elsewhere', all, {}, nobody, undefined],
    ['another scheme is no credential', all, { authorization: 'Basic YTpi' }, nobody, undefined],
    ['an empty token is no credential', all, { authorization: 'Bearer ' }, nobody, undefined],
    ['a token does nothing where nobody knows tokens', { ...all, tokens: undefined }, { authorization: 'Bearer good' }, nobody, undefined],
    ['a certificate does nothing without a CA', { ...all, certificates: false }, {}, someone('cert'), undefined],
    ['a token may hide among WebSocket protocols', all, webSocket(`${hidden('good')}, v4.channel.k8s.io`), nobody, 'token-user'],
    ['a hidden token needs another protocol', all, webSocket(hidden('good')), nobody, 'refused'],
    ['two hidden tokens are refused', all, webSocket(`${hidden('good')}, ${hidden('good')}x, a`), nobody, 'refused'],
    ['a hidden token counts in WebSocket requests only', all, { 'sec-websocket-protocol': `${hidden('good')}, a` }, nobody, undefined],
  ] as const) {
    test(it, async () => {
      const asked = requestAuthenticator(options)({ headers: { ...headers }, certificateUser, ...asker });
      assert.equal(await asked.then((user) => user?.name).catch(() => 'refused'), expected);
    });
  }
});

test('whoever is known belongs to system:authenticated, once', async () => {
  const groups = async (user: UserInfo): Promise<readonly string[] | undefined> =>
    (await requestAuthenticator(all)({ headers: {}, certificateUser: () => user, ...asker }))?.groups;
  assert.deepEqual(await groups({ name: 'a', groups: ['o'] }), ['o', 'system:authenticated']);
  assert.deepEqual(await groups({ name: 'a', groups: ['system:authenticated'] }), ['system:authenticated']);
});

test('a token is gone from the headers once it was believed', async () => {
  const headers: IncomingHttpHeaders = { ...webSocket(`v4.channel.k8s.io, ${hidden('good')}`) };
  await requestAuthenticator(all)({ headers, certificateUser: nobody, ...asker });
  assert.equal(headers['sec-websocket-protocol'], 'v4.channel.k8s.io');
  const bearer: IncomingHttpHeaders = { authorization: 'Bearer good' };
  await requestAuthenticator(all)({ headers: bearer, certificateUser: nobody, ...asker });
  assert.deepEqual(bearer, {});
});

describe('what they may:', () => {
  const asked: string[] = [];
  const control = accessControl({
    authenticate: requestAuthenticator(all),
    mayAccess: async (user, verb, subresource) => {
      asked.push(`${user.name} ${verb} ${subresource}`);
      if (user.name === 'torn') throw new Error('no API server: secret detail');
      return user.name === 'admin' || (user.name === 'watcher' && subresource === 'pods');
    },
    log: new RecordingLogger(),
  });
  for (const [name, path, expected, questions] of [
    ['admin', '/exec/a/b/c', undefined, ['admin create proxy']],
    ['watcher', '/pods', undefined, ['watcher create pods']],
    ['admin', '/pods', undefined, ['admin create pods']],
    [
      'watcher',
      '/exec/a/b/c',
      { status: 403, message: 'Forbidden (user=watcher, verb=create, resource=nodes, subresource=proxy)' },
      ['watcher create proxy'],
    ],
    [
      'other',
      '/pods',
      { status: 403, message: 'Forbidden (user=other, verb=create, resource=nodes, subresource=proxy)' },
      ['other create pods', 'other create proxy'],
    ],
    [
      'torn',
      '/metrics',
      { status: 500, message: 'Authorization error (user=torn, verb=create, resource=nodes, subresource=metrics)' },
      ['torn create metrics'],
    ],
  ] as const) {
    test(`${name} asks for ${path}`, async () => {
      asked.length = 0;
      const refusal = await control({ method: 'POST', path, headers: {}, certificateUser: someone(name), ...asker });
      assert.deepEqual([refusal, asked], [expected, questions]);
    });
  }
  test('nobody asks for anything', async () => {
    asked.length = 0;
    for (const certificateUser of [nobody, bad]) {
      const refusal = await control({ method: 'GET', path: '/pods', headers: {}, certificateUser, ...asker });
      assert.deepEqual(refusal, { status: 401, message: 'Unauthorized' });
    }
    assert.deepEqual(asked, []);
  });
});
