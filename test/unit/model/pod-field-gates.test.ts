import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allPodFields, withoutGatedFields } from '../../../src/model/pod-field-gates.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const rules = [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }];
const fileKeyRef = { key: 'K', path: 'env', volumeName: 'v' };
const full = aPod('web', {
  initContainers: [
    aContainer('sidecar', { restartPolicy: 'Always', restartPolicyRules: rules }),
    aContainer('once', { restartPolicy: 'Never' }),
  ],
  containers: [
    aContainer('app', {
      restartPolicy: 'OnFailure',
      restartPolicyRules: rules,
      env: [
        { name: 'A', valueFrom: { fileKeyRef } },
        { name: 'B', value: 'b' },
      ],
    }),
    aContainer('plain'),
  ],
});

test('with all gates on a pod is what it is', () => assert.equal(withoutGatedFields(full, allPodFields), full));

test('without ContainerRestartRules only sidecars have a policy of their own', () => {
  const { initContainers = [], containers } = withoutGatedFields(full, { ...allPodFields, containerRestartRules: false }).spec;
  assert.deepEqual(
    [...initContainers, ...containers].map(({ name, restartPolicy, restartPolicyRules }) => [name, restartPolicy, restartPolicyRules]),
    [
      ['sidecar', 'Always', undefined],
      ['once', undefined, undefined],
      ['app', undefined, undefined],
      ['plain', undefined, undefined],
    ],
  );
  assert.deepEqual(containers[0]?.env, full.spec.containers[0]?.env);
});

test('without EnvFiles variables from files are empty', () => {
  const debugged = {
    ...full,
    spec: { ...full.spec, ephemeralContainers: [{ name: 'debug', env: [{ name: 'A', valueFrom: { fileKeyRef } }] }] },
  };
  const { containers, ephemeralContainers = [] } = withoutGatedFields(debugged, { ...allPodFields, envFiles: false }).spec;
  const [app] = containers;
  assert.deepEqual(ephemeralContainers[0]?.env, [{ name: 'A', value: '' }]);
  assert.deepEqual(app?.env, [
    { name: 'A', value: '' },
    { name: 'B', value: 'b' },
  ]);
  assert.deepEqual(app?.restartPolicyRules, rules);
});

test('a pod without such fields is the same object whatever the gates are', () => {
  const plain = aPod('plain', { initContainers: [aContainer('s', { restartPolicy: 'Always' })], containers: [aContainer('app')] });
  assert.equal(withoutGatedFields(plain, { envFiles: false, containerRestartRules: false }), plain);
});
