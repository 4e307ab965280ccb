import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CredentialProvider } from '../../../../src/images/providers/credential-provider.ts';

const entry = { location: 'a.example', username: 'u', password: 'p' };

test('of 5,000 images the last 1,000 are known without asking', async () => {
  let asked = 0;
  const provider = new CredentialProvider(
    { matchImages: ['a.example'], defaultCacheMs: 60_000 },
    {
      clock: { monotonicMs: () => 0 },
      ask: () => {
        asked++;
        return Promise.resolve({ entries: [entry], cacheKeyType: 'Image', cacheMs: undefined });
      },
    },
  );
  for (let i = 0; i < 5_000; i++) await provider.provide(`a.example/app-${i}`);
  asked = 0;
  for (let i = 4_000; i < 5_000; i++) await provider.provide(`a.example/app-${i}`);
  assert.equal(asked, 0);
  await provider.provide('a.example/app-0');
  assert.equal(asked, 1);
});

test('who fails is asked again, and a type of key that every object has is none', async () => {
  const answers = ['constructor', 'Global'];
  const provider = new CredentialProvider(
    { matchImages: ['a.example'], defaultCacheMs: 0 },
    {
      clock: { monotonicMs: () => 0 },
      ask: () => Promise.resolve({ entries: [entry], cacheKeyType: answers.shift() ?? '', cacheMs: undefined }),
    },
  );
  await assert.rejects(provider.provide('a.example/app'), /valid cacheKeyType: constructor/);
  assert.deepEqual(await provider.provide('a.example/app'), [entry]);
});

test('of 5,000 service accounts the last 1,000 are known without asking, and of many that ask at once for one, one does', async () => {
  const asked: string[] = [];
  const provider = new CredentialProvider(
    { matchImages: ['a.example'], defaultCacheMs: 60_000 },
    {
      clock: { monotonicMs: () => 0 },
      ask: (_image, account) => {
        asked.push(account?.token ?? '');
        return Promise.resolve({ entries: [entry], cacheKeyType: 'Global', cacheMs: undefined });
      },
    },
  );
  const ask = (token: string): Promise<unknown> =>
    provider.provide('a.example/app', async () => ({
      account: { uid: 'u', namespace: 'n', name: 'a' },
      token,
      annotations: {},
      cacheKey: token,
      askKey: token,
      mayBePassword: false,
    }));
  for (let i = 0; i < 5_000; i++) await Promise.all([ask(`t${i}`), ask(`t${i}`)]);
  assert.equal(asked.length, 5_000);
  for (let i = 4_000; i < 5_000; i++) await ask(`t${i}`);
  assert.equal(asked.length, 5_000);
  await Promise.all([ask('t0'), ask('t0'), provider.provide('a.example/app')]);
  assert.deepEqual(asked.slice(5_000).toSorted(), ['', 't0']);
});
