import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineOperation } from '../../../src/metrics/engine-operation.ts';

for (const [what, operation] of [
  ['GET /containers/json', 'list_containers'],
  ['POST /containers/create?name=k8s_a', 'create_container'],
  ['GET /containers/k8s_a/json', 'inspect_container'],
  ['POST /containers/abc/stop?t=30', 'stop_container'],
  ['DELETE /containers/abc', 'remove_container'],
  ['POST /containers/abc/exec', 'create_exec'],
  ['POST /exec/abc/start', 'start_exec'],
  ['GET /images/registry:5000/a/b:1/json', 'inspect_image'],
  ['GET /images/json', 'list_images'],
  ['POST /images/create?fromImage=busybox', 'pull_image'],
  ['GET /version', 'version'],
  ['PATCH /something/else', 'other'],
  ['', 'other'],
] as const)
  test(`${what} is ${operation}`, () => assert.equal(engineOperation(what), operation));
