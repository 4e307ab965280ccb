import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { formatTime } from '../../../src/model/time.ts';
import { TokenManager } from '../../../src/objects/token-manager.ts';
import type { ApiRequest } from '../../../src/ports/kube-api.ts';
import { aPod } from '../../builders/a-pod.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { refusals } from '../../fakes/fake-kube-api.ts';

const pod = aPod('web', { serviceAccountName: 'builder' });
const signal = AbortSignal.timeout(5_000);

function aStage(lifeSeconds: number) {
  const clock = new FakeClock();
  const requests: ApiRequest[] = [];
  const refused: Error[] = [];
  const api = {
    request: async <T>(request: ApiRequest): Promise<T> => {
      requests.push(request);
      const error = refused.shift();
      if (error) throw error;
      const status = { token: `token-${requests.length}`, expirationTimestamp: formatTime(clock.now() + lifeSeconds * 1000) };
      const answer: unknown = { spec: { expirationSeconds: lifeSeconds }, status };
      return answer as T;
    },
  };
  const tokens = new TokenManager({ api, clock, log: silentLogger, random: () => 0 });
  const ask = (): Promise<string> => tokens.get(pod, { audience: 'vault', expirationSeconds: lifeSeconds }, signal);
  return { clock, requests, refused, tokens, ask };
}

test('a token is asked for the pod, its service account, an audience and a life', async () => {
  const { requests, ask } = aStage(600);
  assert.equal(await ask(), 'token-1');
  assert.deepEqual(requests, [
    {
      method: 'POST',
      path: '/api/v1/namespaces/default/serviceaccounts/builder/token',
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {
          audiences: ['vault'],
          expirationSeconds: 600,
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'uid-web' },
        },
      },
    },
  ]);
});

test('a token is renewed after four fifths of its life, or after a day', async () => {
  for (const [lifeSeconds, renewedAfterSeconds] of [
    [600, 480],
    [1_000_000, 86_400],
  ] as const) {
    const { clock, ask } = aStage(lifeSeconds);
    assert.equal(await ask(), 'token-1');
    await clock.advance((renewedAfterSeconds - 1) * 1000);
    assert.equal(await ask(), 'token-1', `life ${lifeSeconds}`);
    await clock.advance(1_000);
    assert.equal(await ask(), 'token-2', `life ${lifeSeconds}`);
  }
});

test('a token that cannot be renewed serves until its end', async () => {
  const { clock, refused, ask } = aStage(600);
  await ask();
  await clock.advance(500_000);
  refused.push(refusals.internal(), refusals.internal());
  assert.equal(await ask(), 'token-1');
  await clock.advance(100_000);
  await assert.rejects(ask(), { message: 'failed to fetch token: Internal error occurred' });
  assert.match(await ask(), /^token-\d$/);
});

test('the tokens of a pod that is forgotten are gone', async () => {
  const { requests, tokens, ask } = aStage(600);
  await ask();
  tokens.forget(pod.metadata.uid);
  await ask();
  assert.equal(requests.length, 2);
});

test('a token of an account of the same name that is gone does not count, nor does it serve until its end', async () => {
  const { requests, refused, tokens, ask } = aStage(600);
  const of = (accountUid: string): Promise<string> => tokens.get(pod, { audience: 'vault', expirationSeconds: 600, accountUid }, signal);
  assert.equal(await of('a'), 'token-1');
  assert.equal(await of('a'), 'token-1');
  assert.partialDeepStrictEqual(requests[0]?.body, { metadata: { uid: 'a' } });
  refused.push(refusals.forbidden());
  await assert.rejects(of('b'), /forbidden/);
  assert.equal(await of('b'), 'token-3');
  assert.equal(await ask(), 'token-4');
  assert.equal(await of('b'), 'token-3');
});

test('a token that comes after its pod has gone is not kept', async () => {
  const { requests, tokens, ask } = aStage(600);
  const gone = new AbortController();
  const late = tokens.get(pod, { audience: 'vault', expirationSeconds: 600 }, gone.signal);
  gone.abort(new Error('gone'));
  tokens.forget(pod.metadata.uid);
  await assert.rejects(late, /gone/);
  await ask();
  assert.equal(requests.length, 2);
});
