import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerInfo } from 'dockerode';
import { wholeContainers } from '../../../../../src/engines/docker/client/whole-answers.ts';

test("Podman's words for how a container stands are Docker's: one that is being stopped still runs", () => {
  const words = ['created', 'initialized', 'running', 'stopping', 'stopped', 'exited'];
  const listed = wholeContainers(words.map((State) => ({ State }) as ContainerInfo));
  assert.deepEqual(
    listed.map(({ State }) => State),
    ['created', 'created', 'running', 'running', 'exited', 'exited'],
  );
});
