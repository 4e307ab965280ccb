import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import type { KubeletOptions } from '../../../src/options/kubelet-options.ts';
import type { Given } from '../../../src/ports/contribution.ts';
import { capability } from '../../../src/server/capability.ts';
import { aPod } from '../../builders/a-pod.ts';
import { stages } from '../../../src/ports/staged.ts';
import { type NodeUnderTest, nodeUnderTest, nothingGiven } from '../../builders/node-parts.ts';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

interface Served extends NodeUnderTest {
  readonly get: (path: string, where?: RequestOptions) => Promise<readonly [status: number, text: string]>;
}

/** Runs the capability until the test is over; without options on the local socket alone. */
async function serve(t: TestContext, over: Partial<KubeletOptions> = {}, given: Partial<Given> = {}): Promise<Served> {
  const rootDir = await mkdtemp(join(tmpdir(), 'rxlet-server-'));
  const scene = nodeUnderTest({ options: { rootDir, certDir: join(rootDir, 'pki'), enableServer: false, healthzPort: 0, ...over } });
  const { services = [] } = capability(scene.node);
  const stop = new AbortController();
  const runs = services.map(async (service) => {
    await service.run(stop.signal, { ...nothingGiven, ...given }).catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
  });
  t.after(async () => {
    stop.abort();
    await scene.clock.until(Promise.all(runs));
    scene.node.engine.close();
    await rm(rootDir, { recursive: true });
  });
  await Promise.all(services.map(async (service) => service.ready?.(stop.signal)));
  const get: Served['get'] = async (path, where = { socketPath: join(rootDir, 'rxlet.sock') }) => {
    const request = httpRequest({ path, agent: false, ...where }).end();
    const [response]: IncomingMessage[] = await once(request, 'response');
    assert.ok(response);
    return [response.statusCode ?? 0, await text(response)];
  };
  return { ...scene, get };
}

test('the server is ready when it listens, with its own routes and those of others', async (t) => {
  const { get, declare } = await serve(
    t,
    {},
    {
      routes: [{ methods: ['GET'], path: '/others', handle: async (_request, response) => void response.end('of others') }],
      metricTexts: [async () => 'a 1\n', async () => 'b 1\n'],
    },
  );
  declare(aPod('web'));
  assert.deepEqual(await get('/others'), [200, 'of others']);
  assert.deepEqual(await get('/metrics'), [200, 'a 1\nb 1\n']);
  assert.match((await get('/pods'))[1], /"metadata":\{"name":"web",/);
  assert.match((await get('/configz'))[1], /^\{"kubeletconfig":\{/);
  assert.match((await get('/statusz'))[1], /^Paths: .*\/configz .*\/others/m);
  assert.match((await get('/flagz'))[1], /^hostname-override=|^root-dir=/m);
});

test('gates close what they name', async (t) => {
  const { get } = await serve(t, { featureGates: { ComponentStatusz: false, ComponentFlagz: false } });
  assert.deepEqual([(await get('/statusz'))[0], (await get('/flagz'))[0]], [404, 404]);
});

test("enableSystemLogQuery: whether a query of the node's logs is one, or files are browsed whatever it says", async (t) => {
  const query = '/logs/?query=rxlet-test/none.log';
  const [on, off] = [await serve(t, { enableSystemLogQuery: true }), await serve(t)];
  const found = 'stat /var/log/rxlet-test/none.log: no such file or directory\n';
  assert.deepEqual(await on.get(query), [406, `query: Invalid value: ["rxlet-test/none.log"]: ${found}`]);
  assert.deepEqual(await off.get(query), await off.get('/logs/'));
});

test('the certificate is there before the server starts', () => {
  const { node } = nodeUnderTest({ options: { enableServer: true } });
  const stageOf = (name: string): number => {
    const service = capability(node).services?.find((each) => each.name === name);
    assert.ok(service, name);
    return stages.indexOf(service.stage);
  };
  assert.ok(stageOf('serving certificate') < stageOf('server'));
});

test('health is that of the pods, of the machine, and of what others contribute', async (t) => {
  const node = [{ health: () => [{ name: 'disk', note: 'slow' }] }, { health: () => [{ name: 'gpu', error: 'gone' }] }];
  const { get, node: parts } = await serve(t, {}, { node });
  const relisting = parts.pleg.relists.subscribe();
  t.after(() => relisting.unsubscribe());
  const [status, report] = await get('/healthz?verbose');
  assert.equal(status, 500);
  assert.match(report, /^\[\+\]thread-pool ok$/m);
  assert.match(report, /^\[\+\]file-systems ok$/m);
  assert.match(report, /^\[\+\]disk ok: slow$/m);
  assert.match(report, /^\[-\]gpu failed: reason withheld$/m);
  assert.match(report, /syncloop/);
});

test('what comes through the ports for others is told, what comes from the machine itself is not', async (t) => {
  const [port, readOnlyPort] = [await freePort(), await freePort()];
  const { get, happened, log } = await serve(t, { enableServer: true, port, readOnlyPort, address: '127.0.0.1' });
  await get('/healthz');
  assert.equal((await get('/pods', { host: '127.0.0.1', port: readOnlyPort }))[0], 200);
  const labels = { method: 'GET', path: 'pods', serverType: 'readonly', longRunning: false };
  const told = happened.flatMap((each) => (each.name === 'requestBegun' || each.name === 'requestEnded' ? [each] : []));
  assert.deepEqual(
    told.map(({ name, what }) => [name, what.labels]),
    [
      ['requestBegun', labels],
      ['requestEnded', labels],
    ],
  );
  assert.equal(told[0]?.what, told[1]?.what);
  assert.equal(log.count('serving'), 3);
});

test('a port that is taken for now holds nothing up', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const { get, log } = await serve(t, { healthzPort: port, healthzBindAddress: '127.0.0.1' });
  assert.equal((await get('/pods'))[0], 200);
  assert.equal(log.count('cannot listen, retrying'), 1);
});
