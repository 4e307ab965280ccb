import { Verbosity } from '../../src/base/verbosity.ts';
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { filter, firstValueFrom, map, merge, Subject } from 'rxjs';
import { capabilities } from '../../src/capabilities.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { apiSource } from '../../src/cluster/pods/api-source.ts';
import { embeddedEngine } from '../../src/engines/fake/engine.ts';
import { fakeEngine } from '../../src/engines/fake/fake-engine.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Node } from '../../src/model/node.ts';
import type { Capability } from '../../src/ports/capability.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import type { ReconcileRecord } from '../../src/ports/pod-plan.ts';
import { runAgent } from '../../src/run-agent.ts';
import { realSurroundings, type Surroundings } from '../../src/surroundings.ts';
import { withoutCluster } from '../builders/node-parts.ts';
import { defaultOptions, someOptions, unchangedConfig } from '../builders/some-options.ts';
import { did } from '../builders/throwaway/capability.ts';
import { FakeKubeApi } from '../fakes/fake-kube-api.ts';

const throwaway: Capability = { name: 'throwaway', wanted: () => true, load: () => import('../builders/throwaway/capability.ts') };

test('a capability is one folder and one line: it takes part in pods, the node, the server, what happens, and the stages', async (t) => {
  const rootDir = await mkdtemp(join(tmpdir(), 'throwaway-'));
  t.after(() => rm(rootDir, { recursive: true, force: true }));
  const manifests = join(rootDir, 'manifests');
  await mkdir(manifests);
  await writeFile(join(manifests, 'web.yaml'), manifest('web'));
  await writeFile(join(manifests, 'greedy.yaml'), manifest('greedy', 'licence: wanted'));
  const port = await freePort();
  const engine = fakeEngine({ clock: systemClock, log: silentLogger });
  const api = new FakeKubeApi();
  const records = new Subject<ReconcileRecord>();
  const listening: Capability = {
    name: 'test',
    wanted: () => true,
    load: async () => ({ capability: () => ({ listener: { reconciled: (record) => records.next(record) } }) }),
  };
  const options = someOptions({
    nodeName: 'n1',
    rootDir,
    podManifestPath: manifests,
    certDir: join(rootDir, 'pki'),
    kubeconfig: 'in memory',
    address: '127.0.0.1',
    port: await freePort(),
    readOnlyPort: port,
    healthzPort: 0,
    nodeStatusUpdateFrequencyMs: 500,
    resolvConf: '',
  });
  const from: Surroundings = {
    ...realSurroundings({ log: silentLogger, origins: defaultOptions.origins, verbosity: new Verbosity(0), config: unchangedConfig }),
    openEngine: async () => embeddedEngine(engine),
    openCluster: async () => clusterOf(api),
  };
  const stop = new AbortController();
  t.after(() => stop.abort());
  const of = (name: string, does: (record: ReconcileRecord) => boolean): Promise<ReconcileRecord> =>
    firstValueFrom(records.pipe(filter((record) => record.pod === `default/${name}-n1` && does(record))));
  const started = of('web', ({ outcomes }) => outcomes.some(({ action }) => action.do === 'startContainer'));
  const refused = of('greedy', ({ outcomes }) => outcomes.some(({ action }) => action.do === 'admit'));
  const done = runAgent(options, from, stop.signal, [...capabilities, listening, throwaway]);
  const ended = Promise.withResolvers<never>();
  done.catch((error: unknown) => ended.reject(error));

  // In pods' lives, and in their records.
  const { outcomes } = await Promise.race([started, ended.promise]);
  assert.deepEqual(
    outcomes.map(({ action, error }) => [action.do, error]),
    ['admit', 'prepare', 'runSandbox', 'startContainer'].map((what) => [what, undefined]),
  );
  assert.match((await refused).plan.because.join('; '), /admit refused: Forbidden: no licence is left/);
  const [app] = engine.controls.world().filter(({ name }) => name === 'app');
  assert.ok(app);
  assert.deepEqual(
    app.given.env?.filter(({ name }) => name === 'LICENCE'),
    [{ name: 'LICENCE', value: 'for app' }],
  );
  assert.ok(app.given.mounts?.some(({ containerPath }) => containerPath === '/licences'));

  // In the server, and in the node's status.
  assert.equal(await Promise.race([answerOf(port, '/licences'), ended.promise]), '2 left\n');
  // The node's first status may have been sent before the pod came.
  const licencesLeft = nodesOf(api).pipe(map(({ status }) => status?.conditions?.find(({ type }) => type === 'LicencesLeft')?.message));
  await Promise.race([firstValueFrom(licencesLeft.pipe(filter((message) => message === '2 of 3 are left'))), ended.promise]);

  // At the end of a pod, and of the agent.
  const gone = of('web', ({ outcomes: last }) => last.some(({ action }) => action.do === 'release'));
  await rm(join(manifests, 'web.yaml'));
  await Promise.race([gone, ended.promise]);
  stop.abort();
  assert.equal(await done, 0);
  assert.deepEqual(did.slice(0, 2), ['service runs', 'ready']);
  assert.deepEqual(
    did.filter((what) => !what.startsWith('prepared') && what !== 'ready'),
    ['service runs', 'released', 'heard of the end', 'service stopped'],
  );
  assert.ok(did.includes('prepared web-n1') && !did.includes('prepared greedy-n1'));
});

function manifest(name: string, label = 'app: x'): string {
  return `apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: default, labels: { ${label} } }
spec: { terminationGracePeriodSeconds: 0, containers: [{ name: app, image: busybox, command: [sleep, '1000000'] }] }
`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  assert.ok(address !== null && typeof address === 'object');
  return address.port;
}

/** A list of before the node registers has none. */
const nodesOf = (api: FakeKubeApi) =>
  api.informer<Node & { metadata: { name: string; uid: string; resourceVersion: string } }>({ path: '/api/v1/nodes' }).pipe(
    map((event): Node | undefined => (event.kind === 'reset' ? event.items[0] : event.item)),
    filter((node) => node !== undefined),
  );

/** The API server in memory, as the agent joins it. */
function clusterOf(api: FakeKubeApi): Cluster {
  const source = apiSource({ informer: api.informer, nodeName: 'n1', log: silentLogger });
  let latest: Node | undefined;
  const nodes = api.informer<Node & { metadata: { name: string; uid: string; resourceVersion: string } }>({ path: '/api/v1/nodes' });
  return {
    ...withoutCluster,
    exists: true,
    clients: {
      main: api.door('main'),
      events: api.door('events'),
      heartbeat: api.door('heartbeat'),
      reviews: api.door('reviews'),
      informer: api.informer,
    },
    sources: [source],
    apiPods: source.pods,
    nodes,
    node: () => latest,
    nodeChanges: merge(nodesOf(api)).pipe(map((node) => (latest = node))),
  };
}

/** Asks until the port is listened on: the server is the last stage. */
function answerOf(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get({ port, host: '127.0.0.1', path }, (response) => void text(response).then(resolve, reject));
    request.on('error', () => setImmediate(() => void answerOf(port, path).then(resolve, reject)));
  });
}
