import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { engineDataDirectory, RunningContainers } from '../../../../../src/engines/docker/observe/running-containers.ts';
import type { ContainerId } from '../../../../../src/ports/container-runtime.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { scriptedEngine } from '../../../../fakes/scripted-engine.ts';
import { anEngineClient } from '../../../../builders/docker-parts.ts';

const never = new AbortController().signal;

interface Part {
  readonly name: string;
  readonly type: 'podsandbox' | 'container';
  readonly state?: string;
  readonly pid?: number;
  readonly network?: string;
  readonly driver?: Readonly<Record<string, string>> | null;
}

/** An engine that has these containers, by id. One without a process number answers as if it had just gone. */
async function against(t: TestContext, parts: Record<string, Part>) {
  const engine = await scriptedEngine((request, response) => {
    const json = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const id = /^\/containers\/([^/]+)\/json$/.exec(request.url ?? '')?.[1];
    if (request.url === '/info') return json(200, { DockerRootDir: '/data' });
    if (id === undefined) {
      const listed = Object.entries(parts).map(([Id, { name, type, state = 'running' }]) => ({
        Id,
        Names: [`/${name}`],
        State: state,
        Labels: { 'io.kubernetes.docker.type': type, 'io.kubernetes.pod.uid': 'u' },
      }));
      return json(200, listed);
    }
    const part = parts[id];
    if (part?.pid === undefined) return json(404, { message: 'no such container' });
    return json(200, {
      Id: id,
      Name: `/${part.name}`,
      Created: '2026-01-01T00:00:00Z',
      State: { Running: true, Pid: part.pid, StartedAt: '2026-01-01T00:00:01Z' },
      Config: { Image: 'sha256:1' },
      HostConfig: { NetworkMode: part.network ?? 'default', CpuShares: part.type === 'container' ? 102 : 0 },
      LogPath: part.type === 'container' ? `/logs/${id}` : '',
      GraphDriver: { Name: 'overlay2', Data: part.driver === undefined ? { UpperDir: `/upper/${id}` } : part.driver },
    });
  });
  const client = anEngineClient(engine.endpoint, new FakeClock());
  t.after(async () => {
    client.close();
    await engine.close();
  });
  const inspections = (): string[] =>
    engine.requests.filter((each) => /\/containers\/[^/?]+\/json$/.test(each)).map((each) => each.split('/')[2] ?? '');
  return { client, running: new RunningContainers(client), inspections };
}

const sandbox: Part = { name: 'k8s_POD_web_shop_u_0', type: 'podsandbox', pid: 10 };
const app: Part = { name: 'k8s_app_web_shop_u_1', type: 'container', pid: 11 };

describe('what the engine runs', () => {
  test('is told by pod, with what it takes to measure it', async (t) => {
    const { running } = await against(t, { s: sandbox, c: app });
    const startedAtMs = Date.UTC(2026, 0, 1, 0, 0, 1);
    const common = { image: 'sha256:1', startedAtMs };
    assert.deepEqual(await running.list(never), [
      {
        uid: 'u',
        name: 'web',
        namespace: 'shop',
        network: 'pod',
        sandbox: {
          ...common,
          id: 's',
          name: 'POD',
          engineName: 'k8s_POD_web_shop_u_0',
          pid: 10,
          logPath: undefined,
          cpuShares: undefined,
          writableLayer: '/upper/s',
        },
        containers: [
          {
            ...common,
            id: 'c',
            name: 'app',
            engineName: 'k8s_app_web_shop_u_1',
            pid: 11,
            logPath: '/logs/c',
            writableLayer: '/upper/c',
            cpuShares: 102,
          },
        ],
      },
    ]);
  });

  test('is what runs: nothing that has exited, or goes meanwhile', async (t) => {
    const { pid: _, ...going } = app;
    const { running } = await against(t, { a: { ...app, state: 'exited' }, b: going });
    assert.deepEqual(await running.list(never), []);
  });

  test('is looked at once, until it is stale or gone', async (t) => {
    const parts: Record<string, Part> = { s: sandbox, c: app };
    const { running, inspections } = await against(t, parts);
    await running.list(never);
    await running.list(never);
    assert.deepEqual(inspections().toSorted(), ['c', 's']);
    running.stale('c' as ContainerId);
    await running.list(never);
    assert.deepEqual(inspections().slice(2), ['c']);
    delete parts['s'];
    await running.list(never);
    parts['s'] = sandbox;
    await running.list(never);
    assert.deepEqual(inspections().slice(3), ['s']);
  });

  test("says when a pod is on the node's network, wherever it stands in the list", async (t) => {
    for (const parts of [
      { s: { ...sandbox, network: 'host' }, c: app },
      { c: app, s: { ...sandbox, network: 'host' } },
    ]) {
      const { running } = await against(t, parts);
      const [pod] = await running.list(never);
      assert.deepEqual([pod?.network, pod?.sandbox?.id, pod?.containers.map(({ id }) => id)], ['node', 's', ['c']]);
    }
  });

  for (const driver of [null, { DeviceId: '1' }])
    test(`has no directory of its own with the driver's facts ${JSON.stringify(driver)}`, async (t) => {
      const { running } = await against(t, { c: { ...app, driver } });
      assert.equal((await running.list(never))[0]?.containers[0]?.writableLayer, undefined);
    });

  test('lies in the data directory that the engine names', async (t) => {
    assert.equal(await engineDataDirectory((await against(t, {})).client, never), '/data');
  });
});
