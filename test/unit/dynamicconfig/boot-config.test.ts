import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { readRegularFile } from '../../../src/base/read-regular-file.ts';
import { type BootedConfig, bootConfig } from '../../../src/dynamicconfig/boot-config.ts';
import { CheckpointStore } from '../../../src/dynamicconfig/checkpoint-store.ts';
import { loadOptions, OptionsError } from '../../../src/options/load-options.ts';
import { aSource, kubelet } from './some-sources.ts';

let dir: string;
let store: CheckpointStore;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rxlet-boot-'));
  store = new CheckpointStore(dir);
  await store.initialize();
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const files = { hostname: 'n1', terminal: false, readFile: (path: string) => readRegularFile(path, 2 ** 20) };

async function boot(...flags: readonly string[]): Promise<BootedConfig> {
  const argv = [`--dynamic-config-dir=${dir}`, ...flags];
  const local = await loadOptions(argv, files);
  return bootConfig({ local, load: (file) => loadOptions([...argv, `--config=${file}`], files), files });
}

const good = aSource({ resourceVersion: '1' });
const next = aSource({ resourceVersion: '2' });

async function assign(text: string | undefined): Promise<void> {
  await store.save(good, { kubelet: kubelet(41) });
  await store.set('last-known-good', good);
  if (text !== undefined) await store.save(next, { kubelet: text });
  await store.set('assigned', next);
}

test('without anything assigned it is the own configuration of the node', async () => {
  const { loaded, file, configs } = await boot('--max-pods=9');
  assert.equal(loaded.options.maxPods, 9);
  assert.equal(file, undefined);
  assert.deepEqual(configs, { assigned: undefined, active: undefined, lastKnownGood: undefined, error: undefined });
});

test('what is assigned takes the place of --config, and flags go over it', async () => {
  const own = join(dir, 'own.yaml');
  await writeFile(own, `${kubelet(5)}clusterDomain: own\n`);
  await assign(`${kubelet(42)}podsPerCore: 3\n`);
  const { loaded, file, configs } = await boot(`--config=${own}`, '--pods-per-core=7');
  const { maxPods, podsPerCore, clusterDomain } = loaded.options;
  assert.deepEqual([maxPods, podsPerCore, clusterDomain], [42, 7, '']);
  assert.equal(file, store.fileOf(next));
  assert.deepEqual(configs, { assigned: next, active: next, lastKnownGood: good, error: undefined });
});

for (const [what, text, error] of [
  ['is not valid', kubelet(-1), 'failed to validate config, see Kubelet log for details'],
  ['cannot be read', '{{{', 'failed to load config, see Kubelet log for details'],
  ['has NUL bytes', kubelet('\0'), 'failed to load config, see Kubelet log for details'],
  ['is not there', undefined, 'failed to load config, see Kubelet log for details'],
] as const)
  test(`one that ${what} is rolled back to the last known good one, and it is said why`, async () => {
    await assign(text);
    const { loaded, configs, problems } = await boot();
    assert.equal(loaded.options.maxPods, 41);
    assert.deepEqual(configs, { assigned: next, active: good, lastKnownGood: good, error });
    assert.ok(problems[0]?.includes(store.fileOf(next)), problems[0]);
  });

test('a record of what is assigned that cannot be used is rolled back, too', async () => {
  await assign(kubelet(42));
  await writeFile(join(dir, 'store/meta/assigned'), 'rubbish');
  const { loaded, configs } = await boot();
  assert.equal(loaded.options.maxPods, 41);
  assert.deepEqual(configs, {
    assigned: undefined,
    active: good,
    lastKnownGood: good,
    error: 'failed to load config, see Kubelet log for details',
  });
});

test('a last known good one that is none, and a directory that cannot be one, are errors of the flag', async () => {
  await writeFile(join(dir, 'store/meta/last-known-good'), 'rubbish');
  await assert.rejects(boot(), (error) => error instanceof OptionsError && error.message.startsWith('flag --dynamic-config-dir: '));
});

test('the feature gate switches it off', async () => {
  await assert.rejects(
    boot('--feature-gates=DynamicKubeletConfig=false'),
    /the DynamicKubeletConfig feature gate must be enabled in order to use the --dynamic-config-dir flag/,
  );
});
