import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerState } from '../../../../../src/engines/cri/api/runtime_pb.js';
import { containerState } from '../../../../../src/engines/cri/observe/container-state.ts';

const seconds = (n: number): bigint => BigInt(n) * 1_000_000_000n;
const at = { createdAt: seconds(1), startedAt: seconds(2), finishedAt: seconds(3), exitCode: 0, reason: '', message: '' };

for (const [what, over, expected] of [
  ['created', { state: ContainerState.CONTAINER_CREATED, startedAt: 0n, finishedAt: 0n }, { phase: 'created' }],
  ['running', { state: ContainerState.CONTAINER_RUNNING, finishedAt: 0n }, { phase: 'running', startedAtMs: 2000 }],
  ['unknown', { state: ContainerState.CONTAINER_UNKNOWN }, { phase: 'unknown' }],
  [
    'ended well, in no words of the runtime',
    { state: ContainerState.CONTAINER_EXITED },
    { phase: 'exited', startedAtMs: 2000, finishedAtMs: 3000, exitCode: 0, reason: 'Completed', message: '' },
  ],
  [
    'ended badly, in no words of the runtime',
    { state: ContainerState.CONTAINER_EXITED, exitCode: 3 },
    { phase: 'exited', startedAtMs: 2000, finishedAtMs: 3000, exitCode: 3, reason: 'Error', message: '' },
  ],
  [
    'killed for its memory',
    { state: ContainerState.CONTAINER_EXITED, exitCode: 137, reason: 'OOMKilled' },
    { phase: 'exited', startedAtMs: 2000, finishedAtMs: 3000, exitCode: 137, reason: 'OOMKilled', message: '' },
  ],
  [
    'never started',
    { state: ContainerState.CONTAINER_EXITED, startedAt: 0n, exitCode: 128, reason: 'StartError', message: 'no such file' },
    { phase: 'exited', startedAtMs: undefined, finishedAtMs: 3000, exitCode: 128, reason: 'StartError', message: 'no such file' },
  ],
] as const)
  test(`a container that is ${what}`, () => assert.deepEqual(containerState({ ...at, ...over }), expected));
