import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HiddenValues } from '../../../src/recording/hidden-values.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('a value of a Secret is hidden in every text that comes later, also in base64 and among other words', () => {
  const hidden = new HiddenValues();
  const { data } = hidden.secret({ data: { password: base64('p4ss.word+') } }) as { data: { password: string } };
  const hash = Buffer.from(data.password, 'base64').toString();

  assert.match(hash, /^hidden-[0-9a-f]{16}$/);
  assert.equal(hidden.text('login with p4ss.word+ failed'), `login with ${hash} failed`);
  assert.equal(hidden.text(base64('p4ss.word+')), data.password);
  assert.equal(hidden.text('p4ss-word+'), 'p4ss-word+');
});

test('two recordings have different hashes for the same value', () => {
  assert.notEqual(new HiddenValues().value('the same'), new HiddenValues().value('the same'));
});

test('what kubectl noted down of a Secret is not recorded', () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"stringData":{"password":"p4ss"}}' };
  assert.deepEqual(new HiddenValues().secret({ metadata: { name: 'pw', annotations } }), { metadata: { name: 'pw' } });
});

test('of more than a thousand values the oldest are no longer looked for', () => {
  const hidden = new HiddenValues();
  for (let at = 0; at <= 1_000; at++) hidden.value(`value number ${at}!`);

  assert.equal(hidden.text('value number 0!'), 'value number 0!');
  assert.match(hidden.text('value number 1!'), /^hidden-/);
  assert.match(hidden.text('value number 1000!'), /^hidden-/);
});
