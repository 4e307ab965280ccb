import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { silentLogger } from '../../src/base/logger.ts';
import { LiveValue } from '../../src/base/live.ts';
import { setOwnProcess } from '../../src/cgroups/own-process.ts';
import { ImageService, RuntimeService } from '../../src/engines/cri/api/runtime_pb.js';
import { openEngine } from '../../src/engines/open-engine.ts';
import { capability as eviction } from '../../src/eviction/capability.ts';
import { openObjects } from '../../src/objects/open-objects.ts';
import type { KubeletOptions, LiveOptions } from '../../src/options/kubelet-options.ts';
import { fieldOf, flagsOf } from '../../src/options/option.ts';
import { allOptions } from '../../src/options/options-table.ts';
import { notTraced } from '../../src/ports/tracing.ts';
import { aPod } from '../builders/a-pod.ts';
import { nodeUnderTest, nothingGiven } from '../builders/node-parts.ts';
import { GI, MI, nodeUsage, plenty, podUsage } from '../builders/node-usage.ts';
import { aPodThat } from '../builders/pods-that.ts';
import { someCgroups, someMemory } from '../builders/some-cgroups.ts';
import { someOptions } from '../builders/some-options.ts';
import { CriServer } from '../fakes/cri-server.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { FakeKubeApi } from '../fakes/fake-kube-api.ts';
import { RecordedHappenings } from '../fakes/recorded-happenings.ts';
import { RecordingLogger } from '../fakes/recording-logger.ts';

/** What options do whose effect is tested nowhere else by their names. */
const { signal } = new AbortController();

describe('where the log goes', () => {
  const made: string[] = [];
  after(() => made.forEach((dir) => rmSync(dir, { recursive: true })));
  const source = join(import.meta.dirname, '../../src/open-log.ts');

  /** A process of its own that logs a line a severity, or as many as `times` says: what came to its standard error and into its files. */
  function logged(over: Partial<KubeletOptions>, times = 1): { readonly stderr: string; readonly files: Readonly<Record<string, string>> } {
    const dir = mkdtempSync(join(tmpdir(), 'rxlet-log-'));
    made.push(dir);
    const options = someOptions({ logToStandardError: false, logDir: dir, logFormat: 'text', ...over });
    const program = `
      const { openLog } = await import(${JSON.stringify(source)});
      const log = openLog(${JSON.stringify(options)}, () => 0, 'agent');
      for (let n = 0; n < ${times}; n++) { log.info('told ' + 'x'.repeat(100)); log.warn('warned'); log.error('failed'); }`;
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
    return { stderr, files: Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')])) };
  }
  const said = (text = ''): readonly string[] => [...new Set(text.match(/told|warned|failed/g) ?? [])].toSorted();

  test('logDir: a file a severity, which has those above, too; standard error has errors', () => {
    const { stderr, files } = logged({});
    assert.deepEqual(Object.keys(files).toSorted(), ['agent.ERROR', 'agent.INFO', 'agent.WARNING']);
    assert.deepEqual(
      ['agent.INFO', 'agent.WARNING', 'agent.ERROR'].map((name) => said(files[name])),
      [['failed', 'told', 'warned'], ['failed', 'warned'], ['failed']],
    );
    assert.deepEqual(said(stderr), ['failed']);
    assert.match(files['agent.INFO'] ?? '', /^I\d{4} /);
  });

  test('logOneOutput and skipLogHeaders: each line once, without a header', () => {
    const { files } = logged({ logOneOutput: true, skipLogHeaders: true });
    assert.deepEqual(
      ['agent.INFO', 'agent.WARNING', 'agent.ERROR'].map((name) => said(files[name])),
      [['told'], ['warned'], ['failed']],
    );
    assert.match(files['agent.WARNING'] ?? '', /^warned\n/);
  });

  test('logStandardErrorThreshold and logAlsoToStandardError: what standard error has beside files', () => {
    assert.deepEqual(said(logged({ logStandardErrorThreshold: 'warning' }).stderr), ['failed', 'warned']);
    assert.deepEqual(said(logged({ logAlsoToStandardError: true }).stderr), ['failed', 'told', 'warned']);
  });

  test('logFileMaxMegabytes: no file is larger', () => {
    const { files } = logged({ logFileMaxMegabytes: 1, logStandardErrorThreshold: 'none' }, 15_000);
    for (const [name, text] of Object.entries(files)) assert.ok(text.length <= 2 ** 20, `${name} has ${text.length}`);
    assert.ok((files['agent.INFO'] ?? '').length > 0);
  });
});

test('evictionMaxPodGracePeriodSeconds: how long a pod has that goes for a soft threshold', async (t) => {
  const scene = nodeUnderTest({
    options: {
      evictionHard: {},
      evictionSoft: { 'memory.available': '1Gi' },
      evictionSoftGracePeriod: { 'memory.available': '1s' },
      evictionMaxPodGracePeriodSeconds: 7,
    },
  });
  t.after(() => scene.node.engine.close());
  const pod = aPodThat('large', { terminationGracePeriodSeconds: 60 });
  scene.declare(pod);
  const stats = {
    node: async () => nodeUsage({ ...plenty, memory: 512 * MI }, scene.clock.now()),
    pods: async () => [podUsage('large', { memory: GI })],
  };
  const stop = new AbortController();
  const running = (eviction(scene.node).services ?? []).map((service) => service.run(stop.signal, { ...nothingGiven, stats }));
  await scene.clock.advance(10_000);
  assert.equal(scene.ended.get(pod.metadata.uid)?.graceSeconds, 7);
  stop.abort();
  await Promise.all(running);
});

test('kubeletCgroups: the agent moves itself', async () => {
  const entered: unknown[] = [];
  const enter = async (...how: readonly unknown[]): Promise<void> => void entered.push(how);
  const manager = { enter } as Pick<Parameters<typeof setOwnProcess>[1]['manager'], 'enter'> as Parameters<
    typeof setOwnProcess
  >[1]['manager'];
  const log = new RecordingLogger();
  await setOwnProcess({ oomScoreAdj: 0, kubeletCgroups: '' }, { manager, log, proc: '/nonexistent' });
  assert.deepEqual(entered, []);
  await setOwnProcess({ oomScoreAdj: 0, kubeletCgroups: 'node.slice/agent' }, { manager, log, proc: '/nonexistent' });
  assert.deepEqual(entered, [['/node.slice/agent', process.pid]]);
});

for (const [strategy, requests] of [
  ['Get', 2],
  ['Cache', 1],
] as const)
  test(`configMapAndSecretChangeDetectionStrategy ${strategy}: asked ${requests} times for two looks`, async () => {
    const api = new FakeKubeApi();
    api.put('/api/v1/namespaces/default/configmaps/c', { metadata: { name: 'c' }, data: {} });
    const clients = { main: api, events: api, heartbeat: api, reviews: api, informer: api.informer };
    const options = someOptions({ configMapAndSecretChangeDetectionStrategy: strategy });
    const ground = { cluster: { exists: true, clients }, clock: new FakeClock(), log: silentLogger, random: () => 0 };
    const objects = openObjects(options, ground);
    const pod = aPod('web', { volumes: [{ name: 'v', configMap: { name: 'c' } }] });
    objects.register(pod);
    for (let looks = 0; looks < 2; looks++) await objects.for(pod).get({ kind: 'ConfigMap', namespace: 'default', name: 'c' }, signal);
    assert.equal(api.requests.length, requests);
  });

test('imageServiceEndpoint: images are asked for there, and containers at the runtime', async (t) => {
  const [runtime, images] = [await CriServer.listen(), await CriServer.listen()];
  t.after(() => Promise.all([runtime[Symbol.asyncDispose](), images[Symbol.asyncDispose]()]));
  runtime.answer(RuntimeService.method.version, () => ({ version: '0.1.0', runtimeName: 'containerd', runtimeVersion: 'v2.1.9' }));
  images.answer(ImageService.method.listImages, () => ({ images: [{ id: 'sha256:1', repoTags: ['there:1'] }] }));
  const options = someOptions({ containerRuntimeEndpoint: runtime.endpoint, imageServiceEndpoint: images.endpoint });
  const live = new LiveValue<LiveOptions>(options);
  const { files } = nodeUnderTest().node;
  const ground = { live, clock: new FakeClock(), log: silentLogger, random: () => 0.5, tell: new RecordedHappenings().tell };
  const engine = await openEngine(options, { ...ground, tracing: notTraced, cgroups: someCgroups, memory: someMemory, files }, signal);
  t.after(() => engine.close());
  assert.deepEqual(
    (await engine.images.listImages(signal)).map(({ id }) => id),
    ['sha256:1'],
  );
});

/** Decided where options are read, and tested there. */
const decidedThere: ReadonlySet<string> = new Set(['mergeDefaultEvictionSettings', 'qosReserved']);

test('each option that works is named in a test of what it does', () => {
  const tests = join(import.meta.dirname, '..');
  const text = readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !file.startsWith('unit/options/'))
    .map((file) => readFileSync(join(tests, file), 'utf8').replaceAll(String.raw`\n`, ' '))
    .join('\n');
  const words = new Set(text.match(/(?:--)?[\w][\w-]*/g));
  const untested = allOptions.filter(([name, option]) => {
    const names = [name, ...flagsOf(option).map((flag) => `--${flag}`), fieldOf(option)?.split('.').at(-1)];
    return !names.some((each) => each !== undefined && words.has(each)) && !decidedThere.has(name);
  });
  assert.deepEqual(
    untested.map(([name]) => name),
    [],
  );
});
