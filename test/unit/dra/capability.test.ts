// Dynamic resource allocation of a whole agent: on the embedded engine, with drivers that register on sockets and speak gRPC.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { NEVER } from 'rxjs';
import { silentLogger } from '../../../src/base/logger.ts';
import * as dra from '../../../src/dra/capability.ts';
import { fakeEngine, type FakeEngine } from '../../../src/engines/fake/fake-engine.ts';
import * as metrics from '../../../src/metrics/capability.ts';
import type { Pod } from '../../../src/model/pod.ts';
import * as plugins from '../../../src/plugins/capability.ts';
import type { Contribution } from '../../../src/ports/contribution.ts';
import type { MetricText } from '../../../src/ports/metric-text.ts';
import { aClaim } from '../../builders/a-claim.ts';
import { filesInMemory } from '../../builders/node-parts.ts';
import { aPodThat, server } from '../../builders/pods-that.ts';
import { type AgentOnFakeEngine, agentOnFakeEngine, always } from '../../fakes/agent-on-fake-engine.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { FakeKubeApi, refusals } from '../../fakes/fake-kube-api.ts';
import { SampleDraPlugin } from '../../fakes/sample-dra-plugin.ts';

const { signal } = new AbortController();
const DRIVER = 'gpu.org';
const OF_DRIVER = { fieldSelector: 'spec.driver=gpu.org,spec.nodeName=n1' };
const OF_OTHERS = { fieldSelector: 'spec.driver!=gpu.org,spec.nodeName=n1' };
const using = (name: string, claim: string): Pod =>
  aPodThat(name, {
    containers: [server('app', { resources: { claims: [{ name: 'gpus' }] } })],
    resourceClaims: [{ name: 'gpus', resourceClaimName: claim }],
  });

describe('dynamic resource allocation', () => {
  let rootDir: string;
  let clock: FakeClock;
  let engine: FakeEngine;
  let api: FakeKubeApi;
  /** What the API server has of resource.k8s.io, by path. */
  let resources: Map<string, object>;
  let agent: AgentOnFakeEngine;
  let files: ReturnType<typeof filesInMemory>;
  const drivers: SampleDraPlugin[] = [];
  let texts: MetricText[];

  const start = (): void => {
    const cluster = { api, informer: api.informer, nodeName: 'n1', node: NEVER };
    texts = [];
    const page = (given: Contribution): Contribution => {
      texts.push(...(given.metricTexts ?? []));
      return given;
    };
    const capabilities = [
      always('plugins', plugins.capability),
      always('metrics', (node) => page(metrics.capability(node))),
      always('dra', async (node) => page(await dra.capability({ ...node, files }))),
    ];
    agent = agentOnFakeEngine({ clock, engine, cluster, options: { rootDir }, capabilities });
  };
  const listen = async (name = DRIVER): Promise<SampleDraPlugin> => {
    const driver = await SampleDraPlugin.listen(join(rootDir, 'plugins_registry', `${name}.sock`), name);
    drivers.push(driver);
    return driver;
  };
  const allocate = (claim: string, pods: readonly Pod[], driver = DRIVER): void => {
    resources.set(`/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/${claim}`, aClaim(claim, [driver], pods));
  };
  /** Lets time pass until it holds. */
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    const endMs = performance.now() + 20_000;
    while (!holds()) {
      assert.ok(performance.now() < endMs, `it never came to be that ${what}`);
      // Drivers answer in real time, and must not be late by the agent's clock on a busy machine.
      await clock.advance(5);
    }
  };
  const given = ({ metadata }: Pod): readonly string[] | undefined =>
    engine.controls
      .world()
      .filter(({ state, role, uid }) => state.phase === 'running' && role.kind === 'container' && uid === metadata.uid)
      .map(({ given: of }) => of?.cdiDevices ?? [])[0];
  const runs = (pod: Pod): Promise<void> => until(`${pod.metadata.name} runs`, () => given(pod) !== undefined);
  const isGone = (pod: Pod): Promise<void> =>
    until(`${pod.metadata.name} is gone`, () => engine.controls.world().every(({ uid }) => uid !== pod.metadata.uid));
  /** Whose ResourceSlices were removed. */
  const wiped = (): readonly unknown[] =>
    api.requests.flatMap(({ method, path, query }) => (method === 'DELETE' && path.endsWith('/resourceslices') ? [query] : []));
  const failures = (): readonly string[] =>
    agent.events.filter(({ reason }) => reason === 'FailedPrepareDynamicResources').map(({ message }) => message);
  const failedReleases = (): readonly string[] =>
    agent.records.flatMap((record) => JSON.stringify(record)).filter((text) => text.includes('unprepare'));

  /** What /metrics says of claims, by series, without how long it took. */
  const measured = async (): Promise<Readonly<Record<string, number>>> => {
    const all = (await Promise.all(texts.map((text) => text(signal)))).join('').split('\n');
    const lines = all.filter((line) => line.startsWith('dra_') && !/_(?:bucket|sum)\{/.test(line));
    return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]));
  };

  beforeEach(async () => {
    rootDir = await mkdtemp(join(tmpdir(), 'rxlet-dra-'));
    await mkdir(join(rootDir, 'plugins_registry'));
    clock = new FakeClock();
    engine = fakeEngine({ clock, log: silentLogger });
    api = new FakeKubeApi();
    resources = new Map<string, object>([
      ['/apis/resource.k8s.io', { versions: [{ version: 'v1' }] }],
      ['/apis/resource.k8s.io/v1/resourceslices', {}],
    ]);
    api.intercept(({ path }) => {
      if (!path.startsWith('/apis/resource.k8s.io')) return undefined;
      const found = resources.get(path);
      if (found === undefined) throw refusals.notFound(path);
      return found;
    });
    files = filesInMemory();
    start();
  });

  afterEach(async () => {
    for (const driver of drivers.splice(0)) await driver[Symbol.asyncDispose]();
    await agent.close();
    await rm(rootDir, { recursive: true });
  });

  it('gives a pod the devices of its claim, waits for its driver, and gives them back', async () => {
    const pod = using('web', 'a');
    allocate('a', [pod]);
    agent.declare([pod]);
    await until('it waits', () => failures().length > 0);
    assert.deepEqual(failures(), ['Failed to prepare dynamic resources: prepare dynamic resources: DRA driver gpu.org is not registered']);
    const driver = await listen();
    await runs(pod);
    assert.deepEqual(given(pod), ['gpu.org/device=a']);
    agent.declare([]);
    await isGone(pod);
    await until('it is given back', () => driver.asked.length === 2);
    assert.deepEqual(driver.asked, ['prepare a', 'unprepare a']);
  });

  it('measures what is done about claims, and counts those in use by driver', async () => {
    const pod = using('web', 'a');
    resources.set('/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/a', aClaim('a', [DRIVER, 'nic.org'], [pod]));
    const inUse = (driver: string): string => `dra_resource_claims_in_use{driver_name="${driver}"}`;
    const handled = (operation: string): string => `dra_operations_duration_seconds_count{operation_name="${operation}",is_error="false"}`;
    const called = (driver: string, method: string, code = 'OK'): string =>
      `dra_grpc_operations_duration_seconds_count{driver_name="${driver}",method_name="/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/${method}",grpc_status_code="${code}"}`;
    await clock.advance(0);
    assert.deepEqual(await measured(), { [inUse('<any>')]: 0 });
    const [gpu] = [await listen(), await listen('nic.org')];
    await until('both are registered', () => drivers.every(({ plugin }) => plugin.told.length > 0));
    agent.declare([pod]);
    await runs(pod);
    const began = {
      [handled('PrepareResources')]: 1,
      [called(DRIVER, 'NodePrepareResources')]: 1,
      [called('nic.org', 'NodePrepareResources')]: 1,
    };
    assert.deepEqual(await measured(), { [inUse('<any>')]: 1, [inUse(DRIVER)]: 1, [inUse('nic.org')]: 1, ...began });
    gpu.unprepares = 'dies';
    agent.declare([]);
    await until('a call has failed', () => gpu.asked.includes('unprepare a'));
    gpu.unprepares = 'well';
    await until('it is given back', () => gpu.asked.filter((each) => each === 'unprepare a').length === 2);
    await isGone(pod);
    await until(
      'nothing is kept',
      () =>
        !files
          .open('dra_manager_state', (json) => JSON.stringify(json))
          .load()
          ?.includes('uid-of-a'),
    );
    assert.deepEqual(await measured(), {
      [inUse('<any>')]: 0,
      ...began,
      [handled('UnprepareResources')]: 1,
      [handled('UnprepareResources').replace('false', 'true')]: 1,
      [called(DRIVER, 'NodeUnprepareResources')]: 1,
      [called(DRIVER, 'NodeUnprepareResources', 'Unavailable')]: 1,
      [called('nic.org', 'NodeUnprepareResources')]: 1,
    });
  });

  it('shares a claim between two pods, over restarts of agent and driver', async () => {
    const [first, second] = [using('first', 'a'), using('second', 'a')];
    allocate('a', [first, second]);
    const driver = await listen();
    agent.declare([first]);
    await runs(first);
    await agent.stop();
    await driver[Symbol.asyncDispose]();
    const next = await listen();
    start();
    agent.declare([first, second]);
    await runs(second);
    assert.deepEqual([given(first), given(second)], [['gpu.org/device=a'], ['gpu.org/device=a']]);
    assert.deepEqual([driver.asked, next.asked], [['prepare a'], []]);
    agent.declare([second]);
    await isGone(first);
    agent.declare([]);
    await isGone(second);
    await until('it is given back', () => next.asked.length > 0);
    assert.deepEqual(next.asked, ['unprepare a']);
  });

  it('tries again what a driver fails at, or dies at', async () => {
    const pod = using('web', 'a');
    allocate('a', [pod]);
    const driver = await listen();
    await until('it is registered', () => driver.plugin.told.length > 0);
    driver.prepares = { fails: 'no device is free' };
    agent.declare([pod]);
    await until('it fails', () => failures().length === 1);
    driver.prepares = 'dies';
    await until('it dies', () => failures().length === 2);
    driver.prepares = 'well';
    await runs(pod);
    assert.match(
      failures().join('\n'),
      /failed for ResourceClaim a: no device is free\n.*NodePrepareResources: rpc error: code = Unavailable/,
    );
  });

  it('keeps a pod whose claim cannot be unprepared, and lets others go on', async () => {
    const [stuck, other] = [using('stuck', 'a'), using('other', 'b')];
    allocate('a', [stuck]);
    allocate('b', [other], 'other.org');
    const [driver] = [await listen(), await listen('other.org')];
    agent.declare([stuck]);
    await runs(stuck);
    driver.unprepares = 'hangs';
    agent.declare([]);
    await until('it is asked', () => driver.asked.includes('unprepare a'));
    agent.declare([other]);
    await runs(other);
    await until('it is given up on', () => failedReleases().some((text) => text.includes('DeadlineExceeded')));
    driver.unprepares = 'well';
    const before = driver.asked.length;
    await until('it is asked again', () => driver.asked.length > before);
  });

  it("shows how a pod's devices do, as their driver says it", async () => {
    const pod = using('web', 'a');
    allocate('a', [pod]);
    const driver = await listen();
    agent.declare([pod]);
    await runs(pod);
    const shown = (): unknown => agent.statuses.get(pod.metadata.uid)?.containerStatuses?.[0]?.allocatedResourcesStatus;
    const says = (health: string, message?: string): Promise<void> => {
      const wanted = [{ name: 'claim:gpus', resources: [{ resourceID: 'gpu.org/device=a', health, ...(message && { message }) }] }];
      return until(`it is ${health}`, () => isDeepStrictEqual(shown(), wanted));
    };
    await says('Unknown');
    await until('it is heard', () => driver.timesHeard > 0);
    driver.say('a', 'UNHEALTHY', 'too hot');
    await says('Unhealthy', 'too hot');
    driver.say('a', 'HEALTHY', '');
    await says('Healthy');
    await rm(join(rootDir, 'plugins_registry', `${DRIVER}.sock`));
    await says('Unknown');
  });

  it('unprepares what was left by pods that ended while no agent ran', async () => {
    const pod = using('web', 'a');
    allocate('a', [pod]);
    const driver = await listen();
    agent.declare([pod]);
    await runs(pod);
    await agent.stop();
    engine.controls.close();
    engine = fakeEngine({ clock, log: silentLogger });
    start();
    agent.declare([]);
    await until('it is given back', () => driver.asked.includes('unprepare a'));
  });

  it('removes what a driver that is gone for long has published', async () => {
    const driver = await listen();
    await until('it is registered', () => driver.plugin.told.length > 0);
    const leave = (): Promise<void> => rm(join(rootDir, 'plugins_registry', `${DRIVER}.sock`));
    await leave();
    const next = await listen();
    // One registers it, the other is kept.
    await until('it is connected', () => next.plugin.server.met === 2);
    await clock.advance(60_000);
    assert.deepEqual(wiped(), [OF_OTHERS]);
    await leave();
    await until('they are removed', () => wiped().length > 1);
    assert.deepEqual(wiped(), [OF_OTHERS, OF_DRIVER]);
  });

  it('removes what a driver has published that is registered and does not listen for long', async () => {
    const service = join(rootDir, 'service.sock');
    const registrar = await SampleDraPlugin.listen(join(rootDir, 'plugins_registry', `${DRIVER}.sock`), DRIVER, service);
    drivers.push(registrar);
    await until('it is registered', () => registrar.plugin.told.length > 0);
    await clock.advance(15_000);
    const first = await SampleDraPlugin.listen(service, DRIVER);
    await until('it is connected', () => first.plugin.server.met === 1);
    await clock.advance(60_000);
    assert.deepEqual(wiped(), [OF_OTHERS]);
    await first[Symbol.asyncDispose]();
    await until('they are removed', () => wiped().length > 1);
    assert.deepEqual(wiped(), [OF_OTHERS, OF_DRIVER]);
    // It can be used as soon as it listens again.
    const pod = using('web', 'a');
    allocate('a', [pod]);
    agent.declare([pod]);
    await until('it waits', () => failures().length > 0);
    const second = await SampleDraPlugin.listen(service, DRIVER);
    drivers.push(second);
    await runs(pod);
    await clock.advance(60_000);
    assert.deepEqual(wiped(), [OF_OTHERS, OF_DRIVER]);
  });

  it('asks an older API server for its own version', async () => {
    resources.clear();
    resources.set('/apis/resource.k8s.io', { versions: [{ version: 'v1alpha3' }, { version: 'v1beta1' }] });
    const pod = using('web', 'a');
    resources.set('/apis/resource.k8s.io/v1beta1/namespaces/default/resourceclaims/a', aClaim('a', [DRIVER], [pod]));
    await listen();
    agent.declare([pod]);
    await runs(pod);
  });
});
