import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test, type TestContext } from 'node:test';
import { silentLogger } from '../../../../../src/base/logger.ts';
import { UnmadeContainers } from '../../../../../src/engines/docker/containers/unmade-containers.ts';
import { createContainer, type Created } from '../../../../../src/engines/docker/containers/create-container.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { scriptedEngine } from '../../../../fakes/scripted-engine.ts';
import { anEngineClient } from '../../../../builders/docker-parts.ts';

type Step = readonly [request: string, status: number, body: object];

const conflict: Step = ['POST /containers/create?name=k8s_a', 409, { message: 'Conflict. The container name "/k8s_a" is already in use' }];
const created: Step = ['POST /containers/create?name=k8s_a', 201, { Id: 'new' }];
const hidden: Step = ['GET /containers/k8s_a/json', 404, { message: 'No such container: k8s_a' }];
const held: Step = ['GET /containers/k8s_a/json', 200, { Id: 'held', State: { Status: 'created' } }];
const removed: Step = ['DELETE /containers/held?v=true&force=true', 204, {}];
const removing: Step = ['DELETE /containers/held?v=true&force=true', 409, { message: 'removal of container held is already in progress' }];
const awaited: Step = ['POST /containers/held/wait?condition=removed', 200, { StatusCode: 0 }];

/** Plays the steps in order and asserts that they were asked for, and nothing else. */
async function play(context: TestContext, steps: readonly Step[], fits: boolean): Promise<Created> {
  const answers = steps.values();
  const engine = await scriptedEngine((_, response: ServerResponse) => {
    const [, status, body] = answers.next().value ?? ['', 500, { message: 'nothing more was expected' }];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  context.after(engine.close);
  const clock = new FakeClock();
  const client = anEngineClient(engine.endpoint, clock);
  const unmade = new UnmadeContainers();
  const creating = { client, clock, log: silentLogger, random: () => 0.5, unmade };
  const request = { name: 'k8s_a', body: { Image: 'i', Labels: {}, HostConfig: {} } };
  const waiting = new Set(['the create']);
  const result = createContainer(creating, request, () => fits, new AbortController().signal).finally(() => waiting.clear());
  while (waiting.size > 0) await clock.advance(10);
  assert.deepEqual(
    engine.requests,
    steps.map(([asked]) => asked),
  );
  assert.equal(clock.actions.length, 0);
  assert.equal(
    unmade.has('k8s_a'),
    engine.requests.some((asked) => asked.includes('k8s_a_')),
  );
  return result;
}

describe('a container whose name is taken', () => {
  test('is created when it is not', async (t) => {
    assert.deepEqual(await play(t, [created], false), { id: 'new', adopted: undefined });
  });

  test('is the holder when that fits', async (t) => {
    assert.equal((await play(t, [conflict, held], true)).id, 'held');
  });

  test('takes the place of a holder that does not fit', async (t) => {
    assert.deepEqual(await play(t, [conflict, held, removed, created], false), { id: 'new', adopted: undefined });
  });

  test('waits for a holder that is going', async (t) => {
    assert.deepEqual(await play(t, [conflict, held, removing, awaited, created], false), { id: 'new', adopted: undefined });
  });

  test('waits for a holder that another create is still making', async (t) => {
    assert.equal((await play(t, [conflict, hidden, conflict, hidden, conflict, held], true)).id, 'held');
  });

  test('gets a name of its own when the engine holds the name for nothing', async (t) => {
    const evaded: Step = ['POST /containers/create?name=k8s_a_80000000', 201, { Id: 'other' }];
    const vainly = [conflict, hidden, conflict, hidden, conflict, hidden, conflict];
    assert.deepEqual(await play(t, [...vainly, evaded], true), { id: 'other', adopted: undefined });
  });
});
