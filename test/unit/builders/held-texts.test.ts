import assert from 'node:assert/strict';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { getHeapSnapshot } from 'node:v8';
import { heldTexts } from '../../builders/held-texts.ts';

class Owner {
  readonly kept = new Map<string, { readonly inner: string }>();
}

test('texts that are alive are found with who holds them, those that nothing holds are not', async () => {
  const owner = new Owner();
  // One text each, as of an answer, not of parts; and none that is in the source.
  const add = (text: string): void => {
    const [key, inner] = JSON.parse(text) as [string, string];
    owner.kept.set(key, { inner });
  };
  add(`["${'k'.repeat(40)}", "${'v'.repeat(40)}"]`);
  const parts = ['k', 'v', 'n'].map((letter) => letter.repeat(35));
  const held = await heldTexts({ json: async () => json(getHeapSnapshot()) }, parts);
  assert.equal(owner.kept.size, 1);
  const by = (letter: string): string | undefined => held.find(({ text }) => text === letter.repeat(40))?.by;
  assert.match(by('k') ?? '', /Owner\.kept > Map\.table > .*> k{40}$/);
  assert.match(by('v') ?? '', /Owner\.kept > Map\.table > .* > Object\.inner > v{40}$/);
  assert.equal(by('n'), undefined);
});
