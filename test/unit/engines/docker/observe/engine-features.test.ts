import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { engineFeatures } from '../../../../../src/engines/docker/observe/engine-features.ts';
import { anEngineClient } from '../../../../builders/docker-parts.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { scriptedEngine } from '../../../../fakes/scripted-engine.ts';

async function handlersOf(t: TestContext, info: unknown): Promise<readonly string[]> {
  const engine = await scriptedEngine((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(info));
  });
  const client = anEngineClient(engine.endpoint, new FakeClock());
  t.after(async () => {
    client.close();
    await engine.close();
  });
  const { handlers } = await engineFeatures(client, new AbortController().signal);
  return handlers.map(({ name }) => name);
}

test("the engine's handlers are its default, without a name, and those that it was given", async (t) => {
  const Runtimes = { runc: { path: 'runc' }, kata: { path: '/opt/kata' }, 'io.containerd.runc.v2': { path: 'runc' } };
  assert.deepEqual(await handlersOf(t, { Runtimes }), ['', 'io.containerd.runc.v2', 'kata', 'runc']);
});

test('an engine that names none has its default', async (t) => {
  assert.deepEqual(await handlersOf(t, { Runtimes: null }), ['']);
});
