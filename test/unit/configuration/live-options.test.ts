import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { LiveValue } from '../../../src/base/live.ts';
import { capability as eviction } from '../../../src/eviction/capability.ts';
import { capability as images } from '../../../src/images/capability.ts';
import { openNode } from '../../../src/node/open-node.ts';
import type { KubeletOptions, LiveOptions } from '../../../src/options/kubelet-options.ts';
import { aMachine } from '../../builders/a-machine.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { aRootDirectory } from '../../builders/a-root-directory.ts';
import { type NodeUnderTest, nodeUnderTest, nothingGiven, runServices } from '../../builders/node-parts.ts';
import { GI, MI, nodeUsage, plenty, podUsage } from '../../builders/node-usage.ts';
import { aPodThat } from '../../builders/pods-that.ts';
import { someOptions } from '../../builders/some-options.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const { signal } = new AbortController();

/** A node whose options can change while it runs. */
function changing(over: Partial<KubeletOptions>): NodeUnderTest & { readonly change: (to: Partial<LiveOptions>) => void } {
  const live = new LiveValue<LiveOptions>(someOptions({ rootDir: '/dev/null/rxlet', ...over }));
  return { ...nodeUnderTest({ live, options: over }), change: (to) => live.set({ ...live.now, ...to }) };
}

test('eviction thresholds count from the next look on, also where there were none', async (t) => {
  const scene = changing({ evictionHard: {} });
  t.after(() => scene.node.engine.close());
  const { services = [] } = eviction(scene.node);
  const pod = aPodThat('large');
  scene.declare(pod);
  const stats = {
    node: async () => nodeUsage({ ...plenty, memory: 512 * MI }, scene.clock.now()),
    pods: async () => [podUsage('large', { memory: 300 * MI })],
  };
  const stop = new AbortController();
  const running = services.map((service) => service.run(stop.signal, { ...nothingGiven, stats }));
  await scene.clock.advance(60_000);
  assert.equal(scene.ended.size, 0);
  scene.change({ evictionHard: { 'memory.available': '1Gi' } });
  await scene.clock.advance(10_000);
  assert.equal(scene.ended.get(pod.metadata.uid)?.reason, 'Evicted');
  stop.abort();
  await Promise.all(running);
});

test('a threshold that is taken away evicts nobody any more, and the pressure is over', async (t) => {
  const scene = changing({ evictionHard: { 'memory.available': '1Gi' }, evictionPressureTransitionPeriodMs: 0 });
  t.after(() => scene.node.engine.close());
  const { services = [], node } = eviction(scene.node);
  const stats = {
    node: async () => nodeUsage({ ...plenty, memory: 512 * MI }, scene.clock.now()),
    pods: async () => [podUsage('large', { memory: GI })],
  };
  const under = (): boolean => node?.conditions?.().some(({ type, status }) => type === 'MemoryPressure' && status === 'True') ?? false;
  const stop = new AbortController();
  const running = services.map((service) => service.run(stop.signal, { ...nothingGiven, stats }));
  await scene.clock.advance(1_000);
  assert.ok(under());
  scene.change({ evictionHard: {} });
  await scene.clock.advance(20_000);
  assert.ok(!under());
  const pod = aPodThat('large');
  scene.declare(pod);
  await scene.clock.advance(60_000);
  assert.equal(scene.ended.size, 0);
  stop.abort();
  await Promise.all(running);
});

test('maxPods and podsPerCore count for the next pod that asks', async (t) => {
  const machine = await aMachine({ 'proc/meminfo': 'MemTotal: 2048 kB\n', 'proc/cpuinfo': 'processor : 0\n\nprocessor : 1\n' });
  t.after(() => machine.remove());
  const options = someOptions({ nodeName: 'n1', nodeIp: '10.1.2.3', rootDir: machine.root, maxPods: 30 });
  const live = new LiveValue<LiveOptions>(options);
  const cluster = { node: () => undefined };
  const node = await openNode(
    options,
    { live, clock: new FakeClock(), log: new RecordingLogger(), cluster, cgroups: { version: 2 } },
    machine,
  );
  const pods = (): string | undefined => node.known().status?.allocatable?.['pods'];
  assert.equal(pods(), '30');
  live.set({ ...options, maxPods: 50 });
  assert.deepEqual([pods(), node.resources.capacity()['pods']], ['50', '50']);
  live.set({ ...options, maxPods: 50, podsPerCore: 10 });
  assert.equal(pods(), String(10 * Number(node.resources.capacity()['cpu'])));
});

for (const [what, to] of [
  ['are not serialized any more', { serializeImagePulls: false }],
  ['may be three at a time', { serializeImagePulls: false, maxParallelImagePulls: 3 }],
] as const)
  test(`pulls that wait begin when they ${what}`, { timeout: 60_000 }, async (t: TestContext) => {
    const scene = changing({ serializeImagePulls: true, rootDir: await aRootDirectory(t) });
    t.after(() => scene.node.engine.close());
    const begun: string[] = [];
    let another = (): void => {};
    const held = Promise.withResolvers<string>();
    const pullImage = async (image: string): Promise<string> => {
      begun.push(image);
      another();
      return held.promise;
    };
    const engine = { ...scene.node.engine, images: { ...scene.node.engine.images, inspectImage: async () => undefined, pullImage } };
    const { images: manager, services: own } = await images({ ...scene.node, engine });
    assert.ok(manager);
    const services = runServices(own);
    t.after(() => services.stop());
    const asked = ['a', 'b', 'c'].map((image) => manager.ensureImage(aPod(image), aContainer('app', { image }), signal));
    const pullsAre = async (count: number): Promise<void> => {
      // Credentials are looked for in real files.
      while (begun.length < count) await new Promise<void>((resolve) => (another = resolve));
      assert.equal(begun.length, count);
    };
    await pullsAre(1);
    scene.change(to);
    await pullsAre(3);
    held.resolve('sha256:1');
    await Promise.all(asked);
  });
