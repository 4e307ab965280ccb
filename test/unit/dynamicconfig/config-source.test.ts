import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeSource, encodeSource, sourceFaults } from '../../../src/dynamicconfig/config-source.ts';
import { aSource } from './some-sources.ts';

test('a source is kept as Kubernetes keeps it, and read again', () => {
  const text = encodeSource(aSource());
  assert.match(text, /^apiVersion: kubelet\.config\.k8s\.io\/v1beta1\nkind: SerializedNodeConfigSource\nsource:\n {2}configMap:\n/);
  assert.deepEqual(decodeSource(text), aSource());
});

describe('what could lead out of its directory is refused', () => {
  for (const over of [
    { kubeletConfigKey: '../../x' },
    { kubeletConfigKey: '..' },
    { kubeletConfigKey: 'a/b' },
    { kubeletConfigKey: 'x'.repeat(300) },
    { namespace: '../x' },
    { name: 'a/../../b' },
    { uid: '..' },
    { uid: '' },
    { resourceVersion: '../1' },
    { resourceVersion: '1/2' },
    { resourceVersion: 'x'.repeat(200) },
  ])
    test(JSON.stringify(over).slice(0, 60), () => assert.throws(() => decodeSource(encodeSource(aSource(over)))));
});

test('a record that is cut off, of another shape, or no text at all is refused', () => {
  for (const text of ['{', 'source: 1', 'source: {configMap: {}}', '\0\0', encodeSource(aSource()).slice(0, 120)])
    assert.throws(() => decodeSource(text), Error, JSON.stringify(text));
});

test('of a reference each wrong name is a fault', () => {
  assert.deepEqual(sourceFaults(aSource()), []);
  assert.equal(sourceFaults({ namespace: '..', name: '/', kubeletConfigKey: '../../x' }).length >= 3, true);
});
