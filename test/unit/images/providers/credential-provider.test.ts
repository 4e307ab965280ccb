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
