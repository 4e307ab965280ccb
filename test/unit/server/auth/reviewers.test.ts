import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { ApiError, ApiUnreachableError } from '../../../../src/model/api-error.ts';
import type { ApiRequest, KubeApi } from '../../../../src/ports/kube-api.ts';
import { accessReviewer } from '../../../../src/server/auth/access-reviewer.ts';
import type { NodeVerb } from '../../../../src/server/auth/node-attributes.ts';
import { reviewClient } from '../../../../src/server/auth/review-client.ts';
import { tokenReviewer } from '../../../../src/server/auth/token-reviewer.ts';
import type { UserInfo } from '../../../../src/server/auth/user-info.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const MINUTE_MS = 60_000;
let clock: FakeClock;
let sent: ApiRequest[];
let answer: (request: ApiRequest) => unknown;
let stop: AbortController;
const api: Pick<KubeApi, 'request'> = {
  request: async <T>(request: ApiRequest): Promise<T> => {
    sent.push(request);
    return (await answer(request)) as T;
  },
};

beforeEach(() => {
  clock = new FakeClock();
  sent = [];
  stop = new AbortController();
});
afterEach(() => {
  stop.abort();
  assert.deepEqual(clock.actions, [], 'no timer is left');
});

const client = () => reviewClient({ api, clock, stop: stop.signal });
const asker = (signal = new AbortController().signal, peer = '10.0.0.1') => ({ peer, signal });
const tokens = (ttlMs = 2 * MINUTE_MS) => {
  const review = tokenReviewer(client(), clock, ttlMs);
  return (token: string, who = asker()) => review(token, who);
};
const rights = () => {
  const may = accessReviewer(client(), clock, { nodeName: 'n', authorizedTtlMs: 5 * MINUTE_MS, unauthorizedTtlMs: 30_000 });
  return (user: UserInfo, verb: NodeVerb, subresource: string) => may(user, verb, subresource, asker());
};
const authenticated = (username: string) => ({
  status: { authenticated: true, user: { username, uid: 'u', groups: ['g'], extra: { k: ['v'] } } },
});

test('a token is reviewed once in its time, and again after it', async () => {
  answer = () => authenticated('jo');
  const review = tokens();
  const jo = { name: 'jo', uid: 'u', groups: ['g'], extra: { k: ['v'] } };
  assert.deepEqual(await Promise.all([review('t'), review('t')]), [jo, jo]);
  await clock.advance(2 * MINUTE_MS - 1);
  assert.deepEqual(await review('t'), jo);
  assert.equal(sent.length, 1);
  await clock.advance(1);
  answer = () => ({ status: {} });
  assert.equal(await review('t'), undefined);
  assert.equal(sent.length, 2);
  assert.deepEqual(sent[0]?.body, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 't' } });
});

test('a token that nobody knows is remembered as one; an error is not', async () => {
  const review = tokens();
  answer = () => ({ status: { authenticated: false } });
  assert.equal(await review('a'), undefined);
  assert.equal(await review('a'), undefined);
  assert.equal(sent.length, 1);
  answer = () => ({ status: { error: 'token expired' } });
  await assert.rejects(review('b'), { message: 'token expired' });
  await assert.rejects(review('b'), { message: 'token expired' });
  assert.equal(sent.length, 3);
});

test('without a time to live every request is reviewed', async () => {
  answer = () => authenticated('jo');
  const review = tokens(0);
  await review('t');
  await review('t');
  assert.equal(sent.length, 2);
});

test('an API server that cannot answer is asked again a few times; one that refuses is not', async () => {
  answer = () => {
    throw new ApiUnreachableError('down');
  };
  const review = tokens();
  const failing = assert.rejects(review('t'), ApiUnreachableError);
  await clock.advance(5_000);
  await failing;
  assert.equal(sent.length, 5);
  answer = () => {
    throw new ApiError(403, 'Forbidden', 'tokenreviews is forbidden');
  };
  await assert.rejects(review('t'), ApiError);
  assert.equal(sent.length, 6);
});

test('waiting for an API server ends with the server', async () => {
  answer = () => {
    throw new ApiUnreachableError('down');
  };
  const failing = assert.rejects(tokens()('t'), /stopping/);
  await clock.advance(0);
  stop.abort(new Error('stopping'));
  await failing;
});

test('a right that is given is believed for five minutes, one that is not for half of one', async () => {
  let allowed = true;
  answer = () => ({ status: { allowed } });
  const may = rights();
  const jo = { name: 'jo', groups: ['g'], extra: { k: ['v'] } };
  assert.equal(await may(jo, 'get', 'proxy'), true);
  allowed = false;
  await clock.advance(5 * MINUTE_MS - 1);
  assert.equal(await may(jo, 'get', 'proxy'), true);
  assert.equal(await may(jo, 'create', 'proxy'), false);
  await clock.advance(1);
  assert.equal(await may(jo, 'get', 'proxy'), false);
  assert.equal(sent.length, 3);
  allowed = true;
  assert.equal(await may(jo, 'create', 'proxy'), false);
  await clock.advance(30_000);
  assert.equal(await may(jo, 'create', 'proxy'), true);
  assert.deepEqual(sent[0]?.body, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user: 'jo',
      groups: ['g'],
      extra: { k: ['v'] },
      resourceAttributes: { group: '', version: 'v1', resource: 'nodes', subresource: 'proxy', name: 'n', verb: 'get' },
    },
  });
});

test('an answer that both allows and denies denies, and one without words is no', async () => {
  const may = rights();
  answer = () => ({ status: { allowed: true, denied: true } });
  assert.equal(await may({ name: 'a', groups: [] }, 'get', 'proxy'), false);
  answer = () => ({});
  assert.equal(await may({ name: 'b', groups: [] }, 'get', 'proxy'), false);
});
