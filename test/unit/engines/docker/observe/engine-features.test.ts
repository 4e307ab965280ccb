import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Dialect } from '../../../../../src/engines/docker/client/dialect.ts';
import { type DockerFeatures, engineFeatures } from '../../../../../src/engines/docker/observe/engine-features.ts';
import { anEngineClient } from '../../../../builders/docker-parts.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { scriptedEngine } from '../../../../fakes/scripted-engine.ts';

async function featuresOf(t: TestContext, info: unknown, speaks: Dialect['name'] = 'docker'): Promise<DockerFeatures> {
  const engine = await scriptedEngine((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(info));
  });
  const client = anEngineClient(engine.endpoint, new FakeClock(), { speaks });
  t.after(async () => {
    client.close();
    await engine.close();
  });
  return engineFeatures(client, new AbortController().signal);
}

const handlersOf = async (t: TestContext, info: unknown): Promise<readonly string[]> =>
  (await featuresOf(t, info)).handlers.map(({ name }) => name);

test("the engine's handlers are its default, without a name, and those that it was given", async (t) => {
  const Runtimes = { runc: { path: 'runc' }, kata: { path: '/opt/kata' }, 'io.containerd.runc.v2': { path: 'runc' } };
  assert.deepEqual(await handlersOf(t, { Runtimes }), ['', 'io.containerd.runc.v2', 'kata', 'runc']);
});

test('an engine that names none has its default', async (t) => {
  assert.deepEqual(await handlersOf(t, { Runtimes: null }), ['']);
});

test('of an engine that takes no handler for a container only the default is one', async (t) => {
  const info = { DefaultRuntime: 'crun', Runtimes: { crun: { path: 'crun' }, kata: { path: '/opt/kata' } } };
  assert.deepEqual(
    (await featuresOf(t, info, 'podman')).handlers.map(({ name }) => name),
    ['', 'crun'],
  );
});

test("an engine says whether it is an ordinary user's", async (t) => {
  for (const [SecurityOptions, rootless] of [
    [['name=seccomp,profile=default', 'name=rootless'], true],
    [['name=seccomp,profile=default'], false],
  ] as const)
    assert.equal((await featuresOf(t, { SecurityOptions })).rootless, rootless);
});

const runtimeThat = (mountOptions: readonly string[]) => ({
  path: 'runc',
  status: { 'org.opencontainers.runtime-spec.features': JSON.stringify({ mountOptions }) },
});

test('read-only mounts are so with all below them from an engine, a kernel and a runtime on that can', async (t) => {
  const Runtimes = { runc: runtimeThat(['ro', 'rro']), old: runtimeThat(['ro']), other: { path: 'other' } };
  const rows = [
    [{ ServerVersion: '25.0.0', KernelVersion: '5.12.0', DefaultRuntime: 'runc', Runtimes }, ['', 'other', 'runc']],
    [{ ServerVersion: '28.5.2+dfsg4', KernelVersion: '6.18.44-x', DefaultRuntime: 'old', Runtimes }, ['other', 'runc']],
    [{ ServerVersion: '24.0.9', KernelVersion: '6.1.0', DefaultRuntime: 'runc', Runtimes }, []],
    [{ ServerVersion: '25.0.0', KernelVersion: '5.11.9', DefaultRuntime: 'runc', Runtimes }, []],
    [{}, []],
  ] as const;
  for (const [info, able] of rows) {
    const { handlers } = await featuresOf(t, info);
    assert.deepEqual(
      handlers.filter(({ recursiveReadOnly }) => recursiveReadOnly).map(({ name }) => name),
      able,
    );
  }
});

test('only engines since 25 are asked to leave alone what is mounted below a mount', async (t) => {
  for (const [ServerVersion, asks] of [
    ['20.10.24+dfsg1', false],
    ['24.9.9', false],
    ['25.0.0-rc.1', true],
    ['28.5.2', true],
    [undefined, false],
  ] as const)
    assert.equal((await featuresOf(t, { ServerVersion })).asksForOneMount, asks);
});

test('engines since 28 mount images', async (t) => {
  for (const [ServerVersion, can] of [
    ['27.5.1', false],
    ['28.0.0', true],
    ['29.1.2', true],
  ] as const)
    assert.equal((await featuresOf(t, { ServerVersion })).imageVolumes, can ? 'once' : 'never');
});

test('pods have user namespaces where the engine maps users', async (t) => {
  for (const [SecurityOptions, maps] of [
    [['name=seccomp,profile=builtin', 'name=userns'], true],
    [['name=seccomp,profile=userns'], false],
    [null, false],
  ] as const)
    assert.equal((await featuresOf(t, { SecurityOptions })).handlers[0]?.userNamespaces, maps);
});
