import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerState, listedPhase } from '../../../../../src/engines/docker/observe/container-state.ts';
import type { ContainerState } from '../../../../../src/ports/container-runtime.ts';

const NEVER = '0001-01-01T00:00:00Z';
const created = Date.UTC(2021, 0, 1, 0, 0, 0, 500);
const started = Date.UTC(2021, 0, 1, 0, 0, 1);
const finished = Date.UTC(2021, 0, 1, 0, 0, 2);

const state = (over: object): ContainerState =>
  containerState({
    Created: '2021-01-01T00:00:00.500123456Z',
    State: {
      Status: '',
      Running: false,
      Paused: false,
      Restarting: false,
      OOMKilled: false,
      Dead: false,
      Pid: 0,
      ExitCode: 0,
      Error: '',
      StartedAt: NEVER,
      FinishedAt: NEVER,
      ...over,
    },
  });
const ran = { StartedAt: '2021-01-01T00:00:01Z', FinishedAt: '2021-01-01T00:00:02Z' };
const exited = { phase: 'exited', startedAtMs: started, finishedAtMs: finished, message: '' } as const;

for (const [name, over, expected] of [
  ['one that was only created', {}, { phase: 'created' }],
  ['a running one', { Running: true, StartedAt: ran.StartedAt }, { phase: 'running', startedAtMs: started }],
  ['a paused one still runs', { Running: true, Paused: true, StartedAt: ran.StartedAt }, { phase: 'running', startedAtMs: started }],
  [
    'one restarted by hand runs, whatever it did before',
    { ...ran, Running: true, ExitCode: 1 },
    { phase: 'running', startedAtMs: started },
  ],
  ['one that ended well', ran, { ...exited, exitCode: 0, reason: 'Completed' }],
  ['one that failed', { ...ran, ExitCode: 3 }, { ...exited, exitCode: 3, reason: 'Error' }],
  ['one killed for memory', { ...ran, ExitCode: 137, OOMKilled: true }, { ...exited, exitCode: 137, reason: 'OOMKilled' }],
  ['one that survived that and ended well', { ...ran, OOMKilled: true }, { ...exited, exitCode: 0, reason: 'OOMKilled' }],
  [
    'one that could not be started began and ended when it was made',
    { ExitCode: 127, Error: 'no such file' },
    {
      phase: 'exited',
      startedAtMs: created,
      finishedAtMs: created,
      exitCode: 127,
      reason: 'ContainerCannotRun',
      message: 'no such file',
    },
  ],
] as const)
  test(`how a container stands: ${name}`, () => {
    assert.deepEqual(state(over), expected);
  });

test('the coarse states of a listing', () => {
  const phases = ['created', 'running', 'paused', 'restarting', 'exited', 'dead', 'removing', 'stopped'].map(listedPhase);
  assert.deepEqual(phases, ['created', 'running', 'running', 'running', 'exited', 'unknown', 'unknown', 'unknown']);
});
