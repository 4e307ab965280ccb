import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unhonouredFields } from '../../../src/model/unhonoured-fields.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

test('a plain pod asks for nothing that is not done', () => {
  assert.deepEqual(unhonouredFields(aPod('web', { volumes: [{ name: 'v', emptyDir: {} }] })), []);
});

test('every field that is not honoured is named by its path', () => {
  const pod = aPod('web', {
    initContainers: [aContainer('init', { volumeDevices: [] })],
    containers: [
      aContainer('a'),
      aContainer('b', {
        livenessProbe: { exec: { command: ['true'] } },
        lifecycle: {},
        terminationMessagePolicy: 'FallbackToLogsOnError',
        volumeDevices: [],
      }),
    ],
    volumes: [{ name: 'v', emptyDir: { medium: 'HugePages' } }],
    readinessGates: [{ conditionType: 'a/b' }],
    runtimeClassName: 'gvisor',
  });
  assert.deepEqual(unhonouredFields(pod), [
    'spec.initContainers[0].volumeDevices',
    'spec.containers[1].volumeDevices',
    'spec.volumes[0].emptyDir.medium',
    'spec.runtimeClassName',
  ]);
});
