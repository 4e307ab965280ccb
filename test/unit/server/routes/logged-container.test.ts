import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus } from '../../../../src/model/pod.ts';
import { HttpError } from '../../../../src/ports/route.ts';
import { loggedContainer } from '../../../../src/server/routes/logged-container.ts';

type State = NonNullable<ContainerStatus['state']>;

const ended = (containerID: string | undefined): State => ({
  terminated: { exitCode: 0, ...(containerID === undefined ? {} : { containerID }) },
});
const running: State = { running: { startedAt: '2026-01-02T03:04:05Z' } };
const waiting = (reason: string): State => ({ waiting: { reason } });
const status = (state: State | undefined, lastState?: State, containerID = 'docker://now'): ContainerStatus => ({
  name: 'app',
  image: 'busybox',
  imageID: '',
  ready: false,
  restartCount: 0,
  containerID,
  ...(state ? { state } : {}),
  ...(lastState ? { lastState } : {}),
});

/** Case → the id, or the refusal's words after `container "app" in pod "web" `. */
const cases: readonly (readonly [string, ContainerStatus, boolean, string])[] = [
  ['it runs', status(running), false, 'now'],
  ['it runs, and ran before', status(running, ended('docker://before')), false, 'now'],
  ['it runs, and its life before is asked for', status(running, ended('docker://before')), true, 'before'],
  [
    'it runs for the first time, and its life before is asked for',
    status(running),
    true,
    'previous terminated container "app" in pod "web" not found',
  ],
  ['it ran before, nobody knows as what', status(running, ended('')), true, 'previous terminated container "app" in pod "web" not found'],
  ['it has ended', status(ended('docker://now')), false, 'now'],
  ['it could not start again', status(ended(undefined), ended('docker://before')), false, 'before'],
  ['it could not start', status(ended(undefined)), false, 'container "app" in pod "web" is terminated'],
  ['it waits to be started again', status(waiting('CrashLoopBackOff'), ended('docker://before')), false, 'before'],
  [
    'it waits, and nobody knows what it was',
    status(waiting('CrashLoopBackOff'), ended('')),
    false,
    'container "app" in pod "web" is terminated',
  ],
  [
    'its image cannot be had',
    status(waiting('ErrImagePull')),
    false,
    'container "app" in pod "web" is waiting to start: image can\'t be pulled',
  ],
  [
    'its image is waited for',
    status(waiting('ImagePullBackOff')),
    false,
    'container "app" in pod "web" is waiting to start: trying and failing to pull image',
  ],
  ['it is being made', status(waiting('ContainerCreating')), false, 'container "app" in pod "web" is waiting to start: ContainerCreating'],
  ['nothing is known', status(undefined), false, 'container "app" in pod "web" is waiting to start - no logs yet'],
  ['another runtime made it', status(running, undefined, 'containerd://abc'), false, 'abc'],
];

for (const [name, container, previous, expected] of cases) {
  test(`whose log is meant when ${name}`, () => {
    const choose = (): string => loggedContainer('web', { containerStatuses: [container] }, 'app', previous);
    if (!expected.includes(' ')) assert.equal(choose(), expected);
    else assert.throws(choose, (error) => error instanceof HttpError && error.status === 400 && error.message === expected);
  });
}

test('init and ephemeral containers are found, too', () => {
  assert.equal(loggedContainer('web', { initContainerStatuses: [status(running)] }, 'app', false), 'now');
  assert.equal(loggedContainer('web', { ephemeralContainerStatuses: [status(running)] }, 'app', false), 'now');
  assert.throws(() => loggedContainer('web', {}, 'app', false), { message: 'container "app" in pod "web" is not available' });
});
