import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldDifferences } from '../../../src/model/field-differences.ts';

const withEnv = (name: string, value: string) => ({ spec: { containers: [{ name: 'web', env: [{ name, value }] }] } });

// Kubernetes allows any printable character but "=" in the name of a variable.
for (const name of ['PASSWORD', 'A]B', 'A].value[B', 'a.b-c', '[]']) {
  test(`the value of an environment variable named ${JSON.stringify(name)} is never shown`, () => {
    const changed = fieldDifferences(withEnv(name, 'hunter1'), withEnv(name, 'hunter2'));
    assert.deepEqual(changed, [{ path: `spec.containers[web].env[${name}].value` }]);
    const added = JSON.stringify([
      fieldDifferences({ spec: {} }, withEnv(name, 'hunter2')),
      fieldDifferences(withEnv(name, 'hunter2'), {}),
    ]);
    assert.doesNotMatch(added, /hunter/);
    assert.match(added, /\(not shown\)/);
  });
}

test('what kubectl keeps of a manifest in an annotation is not shown: it has the environment in it', () => {
  const applied = (value: string) => ({
    metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(withEnv('PASSWORD', value)) } },
  });
  assert.deepEqual(fieldDifferences(applied('hunter1'), applied('hunter2')), [
    { path: 'metadata.annotations[kubectl.kubernetes.io/last-applied-configuration]' },
  ]);
  assert.doesNotMatch(JSON.stringify(fieldDifferences({}, applied('hunter2'))), /hunter/);
});
