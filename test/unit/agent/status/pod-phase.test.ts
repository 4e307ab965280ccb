import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus } from '../../../../src/model/pod.ts';
import { podPhase } from '../../../../src/agent/status/pod-phase.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';

const ended = (name: string, exitCode: number): ContainerStatus => ({
  name,
  image: '',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: { terminated: { exitCode } },
});
const again = { restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }] };

test('a pod runs while one of its ended containers will run again, also under restart policy Never', () => {
  const pod = aPod('p', { restartPolicy: 'Never', containers: [aContainer('a', again), aContainer('b')] });
  assert.equal(podPhase(pod, [ended('a', 42), ended('b', 1)]), 'Running');
  assert.equal(podPhase(pod, [ended('a', 1), ended('b', 0)]), 'Failed');
});

test('a pod that is ending has its end by the exit codes alone, a static pod has not', () => {
  const pod = aPod('p', { restartPolicy: 'Always', containers: [aContainer('a')] });
  assert.equal(podPhase(pod, [ended('a', 0)], { ending: true }), 'Succeeded');
  const file = { ...pod, metadata: { ...pod.metadata, annotations: { 'kubernetes.io/config.source': 'file' } } };
  assert.equal(podPhase(file, [ended('a', 0)], { ending: true }), 'Running');
});

test('a sidecar that starts again does not set an initialized pod back', () => {
  const pod = aPod('p', { containers: [aContainer('a')], initContainers: [aContainer('s', { restartPolicy: 'Always' })] });
  const running: ContainerStatus = { ...ended('a', 0), state: { running: {} } };
  const starting: ContainerStatus = { ...running, name: 's', started: false };
  assert.equal(podPhase(pod, [running, starting]), 'Pending');
  assert.equal(podPhase(pod, [running, starting], { initialized: true }), 'Running');
});
