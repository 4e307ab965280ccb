import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainFields } from '../../../src/base/plain-fields.ts';

const cycle: Record<string, unknown> = { name: 'a' };
cycle['self'] = cycle;
const deep = { a: { b: { c: { d: { e: { f: { g: 1 } } } } } } };

for (const [name, fields, plain] of [
  [
    'secrets go, at any depth',
    { headers: { Authorization: 'Bearer x', Accept: '*' }, list: [{ token: 't' }] },
    { headers: { Authorization: '[redacted]', Accept: '*' }, list: [{ token: '[redacted]' }] },
  ],
  ['that there is a secret may be said', { auth: true, token: null }, { auth: true, token: null }],
  [
    'passwords in URLs go',
    { url: 'http://u:p@h/a', at: new URL('http://u:p@h/') },
    { url: 'http://u:[redacted]@h/a', at: 'http://u:[redacted]@h/' },
  ],
  [
    'so do user names that may be tokens, and passwords that hold what they should not',
    { url: 'http://token@h/a', odd: 'http://u:p@ss@h/a', mail: 'a@b', npm: 'https://h/@scope/name' },
    { url: 'http://[redacted]@h/a', odd: 'http://u:[redacted]@h/a', mail: 'a@b', npm: 'https://h/@scope/name' },
  ],
  [
    'so does what looks like a credential in any text',
    { error: new Error('psql --password hunter2 fails'), did: ['start: token=hunter2'] },
    { error: 'psql --password [redacted] fails', did: ['start: token=[redacted]'] },
  ],
  ['errors are their chain', { error: new Error('a', { cause: new Error('b') }) }, { error: 'a: b' }],
  ['undefined and functions are left out', { a: undefined, b: () => 1, c: { d: undefined } }, { c: {} }],
  ['numbers JSON lacks become text', { a: Number.NaN, b: 10n }, { a: 'NaN', b: '10' }],
  ['dates are ISO', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
  ['maps and sets are plain', { m: new Map([['a', 1]]), s: new Set([1]) }, { m: { a: 1 }, s: [1] }],
  ['bytes are counted', { data: new Uint8Array(3) }, { data: '[3 bytes]' }],
  ['cycles end', { cycle }, { cycle: { name: 'a', self: '[circular]' } }],
  ['depth ends', { deep }, { deep: { a: { b: { c: { d: { e: { f: '[deep]' } } } } } } }],
  ['the same thing twice is no cycle', { a: [deep.a.b.c.d.e.f, deep.a.b.c.d.e.f] }, { a: [{ g: 1 }, { g: 1 }] }],
] as const) {
  test(name, () => {
    assert.deepEqual(plainFields(fields), plain);
  });
}

test('a getter that throws spoils its own field only', () => {
  const fields = {
    a: 1,
    get b(): number {
      throw new Error('no');
    },
  };
  assert.deepEqual(plainFields(fields), { a: 1, b: '[unreadable: no]' });
});

test('long text and long lists are cut', () => {
  const { text, list } = plainFields({ text: 'x'.repeat(10_000), list: Array.from({ length: 150 }, () => 0) });
  assert.equal(text, `${'x'.repeat(8_192)}… [1808 more]`);
  assert(Array.isArray(list));
  assert.deepEqual([list.length, list.at(-1)], [101, '[50 more]']);
});

test('no half of a password is left where long text is cut', () => {
  const { text } = plainFields({ text: `${'x'.repeat(8_170)} https://me:hunter2hunter2@registry/ and more` });
  assert.doesNotMatch(JSON.stringify(text), /hunter/);
});
