import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { extractFieldPath, FieldPathError, formatMap, splitSubscript } from '../../../src/model/field-path.ts';
import type { RawPod } from '../../../src/model/pod.ts';
import { aPod } from '../../builders/a-pod.ts';

test('metadata fields are read, and what is not set is empty', () => {
  const pod = aPod('p', {}, { labels: { b: '2', a: 'say "hi"\u0007' } });
  const table: readonly (readonly [string, string])[] = [
    ['metadata.name', 'p'],
    ['metadata.uid', 'uid-p'],
    ['metadata.labels', 'a="say \\"hi\\"\\a"\nb="2"'],
    ["metadata.labels['b']", '2'],
    ["metadata.labels['constructor']", ''],
    ["metadata.annotations['Any/Case']", ''],
    ["metadata.annotations['\u0130']", ''],
    ['metadata.annotations', ''],
  ];
  for (const [path, value] of table) assert.equal(extractFieldPath(pod, path), value, path);
  assert.equal(formatMap(undefined), '');
  const withNull = JSON.parse('{"metadata": {"labels": null}}') as RawPod;
  assert.equal(extractFieldPath(withNull, "metadata.labels['a']"), '');
});

test('other fields, other subscripts and malformed keys are refused', () => {
  const table: readonly (readonly [string, string | RegExp])[] = [
    ['spec.nodeName', 'unsupported fieldPath: spec.nodeName'],
    ["spec.x['é']", 'fieldPath "spec.x[\'é\']" does not support subscript'],
    ["metadata.labels['a b']", /^invalid key subscript in metadata.labels\['a b'\]: name part must consist of/],
  ];
  for (const [path, message] of table) {
    assert.throws(
      () => extractFieldPath(aPod('p'), path),
      (e) => e instanceof FieldPathError && (typeof message === 'string' ? e.message === message : message.test(e.message)),
    );
  }
});

test('a path and a subscript are found again in what they make together', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }).filter((p) => !p.includes("['")),
      fc.string(),
      (path, subscript) => {
        // A path that ends in "[" reaches into the bracket.
        fc.pre(!path.endsWith('['));
        assert.deepEqual(splitSubscript(`${path}['${subscript}']`), { path, subscript });
      },
    ),
  );
});
