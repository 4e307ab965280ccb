import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podSummary } from '../../../src/cli/pod-summary.ts';
import type { Container, ContainerStatus, PodStatus } from '../../../src/model/pod.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const NOW = Date.parse('2026-01-02T03:00:00Z');

type State = NonNullable<ContainerStatus['state']>;
const running: State = { running: {} };
const waiting = (reason?: string): State => ({ waiting: reason === undefined ? {} : { reason } });
const ended = (exitCode: number, reason?: string, signal?: number): State => ({
  terminated: { exitCode, ...(reason === undefined ? {} : { reason }), ...(signal === undefined ? {} : { signal }) },
});
const a = (state: State, over: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name: 'app',
  image: '',
  imageID: '',
  ready: state.running !== undefined,
  restartCount: 0,
  state,
  ...over,
});
const init = (state: State, over: Partial<ContainerStatus> = {}): ContainerStatus => a(state, { name: 'init', ready: false, ...over });
const diedAt = (finishedAt: string): State => ({ terminated: { exitCode: 1, finishedAt } });
const ready = [{ type: 'Ready', status: 'True' }];

interface Case {
  readonly name: string;
  readonly status: PodStatus;
  readonly inits?: readonly Partial<Container>[];
  readonly containers?: number;
  readonly deleted?: boolean;
  readonly shows: readonly [ready: string, status: string, restarts: string];
}

const one = [{}];
const cases: readonly Case[] = [
  { name: 'nothing is known', status: {}, shows: ['0/1', 'Unknown', '0'] },
  { name: 'it waits', status: { phase: 'Pending' }, shows: ['0/1', 'Pending', '0'] },
  { name: 'it runs', status: { phase: 'Running', containerStatuses: [a(running)] }, shows: ['1/1', 'Running', '0'] },
  {
    name: 'it runs but is not ready',
    status: { phase: 'Running', containerStatuses: [a(running, { ready: false })] },
    shows: ['0/1', 'Running', '0'],
  },
  {
    name: 'it is being made',
    status: { phase: 'Pending', containerStatuses: [a(waiting('ContainerCreating'))] },
    shows: ['0/1', 'ContainerCreating', '0'],
  },
  { name: 'it waits without a reason', status: { phase: 'Pending', containerStatuses: [a(waiting())] }, shows: ['0/1', 'Pending', '0'] },
  {
    name: 'it crashes again and again',
    status: {
      phase: 'Running',
      containerStatuses: [a(waiting('CrashLoopBackOff'), { restartCount: 3, lastState: diedAt('2026-01-02T02:55:00Z') })],
    },
    shows: ['0/1', 'CrashLoopBackOff', '3 (5m ago)'],
  },
  {
    name: 'it has done its work',
    status: { phase: 'Succeeded', containerStatuses: [a(ended(0, 'Completed'))] },
    shows: ['0/1', 'Completed', '0'],
  },
  { name: 'it failed', status: { phase: 'Failed', containerStatuses: [a(ended(3, 'Error'))] }, shows: ['0/1', 'Error', '0'] },
  { name: 'it failed without a reason', status: { phase: 'Failed', containerStatuses: [a(ended(3))] }, shows: ['0/1', 'ExitCode:3', '0'] },
  { name: 'a signal ended it', status: { phase: 'Failed', containerStatuses: [a(ended(137, '', 9))] }, shows: ['0/1', 'Signal:9', '0'] },
  { name: 'it was evicted', status: { phase: 'Failed', reason: 'Evicted' }, shows: ['0/1', 'Evicted', '0'] },
  {
    name: 'the first container that has something to say has the word',
    containers: 3,
    status: {
      phase: 'Running',
      containerStatuses: [a(running, { restartCount: 1 }), a(waiting('ErrImagePull')), a(ended(1, 'Error'), { restartCount: 2 })],
    },
    shows: ['1/3', 'ErrImagePull', '3'],
  },
  {
    name: 'one has ended well and one is ready',
    containers: 2,
    status: { phase: 'Running', conditions: ready, containerStatuses: [a(ended(0, 'Completed')), a(running)] },
    shows: ['1/2', 'Running', '0'],
  },
  {
    name: 'one has ended well and one runs in a pod that is not ready',
    containers: 2,
    status: { phase: 'Running', containerStatuses: [a(ended(0, 'Completed')), a(running)] },
    shows: ['1/2', 'NotReady', '0'],
  },
  {
    name: 'it is being deleted',
    deleted: true,
    status: { phase: 'Running', containerStatuses: [a(running)] },
    shows: ['1/1', 'Terminating', '0'],
  },
  {
    name: 'it has ended and is being deleted',
    deleted: true,
    status: { phase: 'Succeeded', containerStatuses: [a(ended(0, 'Completed'))] },
    shows: ['0/1', 'Completed', '0'],
  },
  { name: 'its node is lost', deleted: true, status: { phase: 'Running', reason: 'NodeLost' }, shows: ['0/1', 'Unknown', '0'] },
  {
    name: 'the second init container runs',
    inits: [{}, {}],
    status: {
      phase: 'Pending',
      initContainerStatuses: [init(ended(0, 'Completed'), { restartCount: 1 }), init(running)],
      containerStatuses: [a(waiting('PodInitializing'))],
    },
    shows: ['0/1', 'Init:1/2', '1'],
  },
  {
    name: 'an init container waits its turn',
    inits: one,
    status: { phase: 'Pending', initContainerStatuses: [init(waiting('PodInitializing'))] },
    shows: ['0/1', 'Init:0/1', '0'],
  },
  {
    name: 'an init container crashes again and again',
    inits: one,
    status: {
      phase: 'Pending',
      initContainerStatuses: [init(waiting('CrashLoopBackOff'), { restartCount: 2, lastState: diedAt('2026-01-02T02:59:50Z') })],
    },
    shows: ['0/1', 'Init:CrashLoopBackOff', '2 (10s ago)'],
  },
  {
    name: 'an init container failed',
    inits: one,
    status: { phase: 'Failed', initContainerStatuses: [init(ended(1, 'Error'))] },
    shows: ['0/1', 'Init:Error', '0'],
  },
  {
    name: 'an init container failed without a reason',
    inits: one,
    status: { phase: 'Failed', initContainerStatuses: [init(ended(2))] },
    shows: ['0/1', 'Init:ExitCode:2', '0'],
  },
  {
    name: 'a signal ended an init container',
    inits: one,
    status: { phase: 'Failed', initContainerStatuses: [init(ended(137, '', 9))] },
    shows: ['0/1', 'Init:Signal:9', '0'],
  },
  {
    name: 'restarts of init containers are over once the pod is initialized',
    inits: one,
    status: {
      phase: 'Running',
      initContainerStatuses: [init(ended(0, 'Completed'), { restartCount: 4 })],
      containerStatuses: [a(running, { restartCount: 1 })],
    },
    shows: ['1/1', 'Running', '1'],
  },
  {
    name: 'a sidecar counts among the containers',
    inits: [{ restartPolicy: 'Always' }],
    status: {
      phase: 'Running',
      initContainerStatuses: [init(running, { started: true, ready: true, restartCount: 2 })],
      containerStatuses: [a(running, { restartCount: 1 })],
    },
    shows: ['2/2', 'Running', '3'],
  },
  {
    name: 'a sidecar has not started yet',
    inits: [{ restartPolicy: 'Always' }],
    status: { phase: 'Pending', initContainerStatuses: [init(running, { started: false })] },
    shows: ['0/2', 'Init:0/1', '0'],
  },
];

for (const { name, status, inits = [], containers = 1, deleted, shows } of cases) {
  test(`what is shown of a pod when ${name}`, () => {
    const spec = {
      containers: Array.from({ length: containers }, (_, index) => aContainer(`app-${index}`)),
      initContainers: inits.map((over) => aContainer('init', over)),
    };
    const pod = { ...aPod('web', spec, deleted === true ? { deletionTimestamp: '2026-01-02T02:00:00Z' } : {}), status };
    const { ready: isReady, status: shown, restarts } = podSummary(pod, NOW);
    assert.deepEqual([isReady, shown, restarts], shows);
  });
}

test('its age is since it was made, for a static pod since it was first seen', () => {
  const made = aPod('web', {}, { creationTimestamp: '2026-01-02T02:00:00Z' });
  assert.equal(podSummary(made, NOW).age, '60m');
  assert.equal(podSummary({ ...aPod('web'), status: { startTime: '2026-01-02T02:59:00Z' } }, NOW).age, '60s');
  assert.equal(podSummary(aPod('web'), NOW).age, '<unknown>');
});
