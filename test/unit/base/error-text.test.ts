import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../../src/base/error-text.ts';

const refused = new Error('connect ECONNREFUSED');
const circle = new Error('a');
circle.cause = circle;

for (const [name, error, text] of [
  ['an error is its message', refused, 'connect ECONNREFUSED'],
  [
    'causes follow',
    new Error('pull image', { cause: new Error('get manifest', { cause: refused }) }),
    'pull image: get manifest: connect ECONNREFUSED',
  ],
  ['a quoted cause is not repeated', new Error('pull: connect ECONNREFUSED', { cause: refused }), 'pull: connect ECONNREFUSED'],
  ['an empty message is its name', new TypeError(''), 'TypeError'],
  [
    'several errors are listed',
    new AggregateError([refused, new Error('connect ENETUNREACH')]),
    'connect ECONNREFUSED, connect ENETUNREACH',
  ],
  ['a circle ends', circle, 'a'],
  ['a thrown string is itself', 'gone', 'gone'],
  ['a thrown object is shown', { code: 1 }, '{ code: 1 }'],
  ['a cause that is no error is shown', new Error('failed', { cause: 5 }), 'failed: 5'],
] as const) {
  test(name, () => {
    assert.equal(errorText(error), text);
  });
}
