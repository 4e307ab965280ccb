import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadOptions, OptionsError } from '../../../src/options/load-options.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const load = (files: Readonly<Record<string, string>>, ...flags: readonly string[]) =>
  loadOptions(['--config=/etc/kubelet.yaml', '--config-dir=/etc/kubelet.conf.d', ...flags], {
    hostname: 'n1',
    terminal: false,
    readFile: (path) => Promise.resolve(head + (files[path.replace('/etc/kubelet.conf.d/', '')] ?? files[path] ?? 'gone: 1')),
    listFiles: () => Promise.resolve(Object.keys(files).filter((path) => !path.startsWith('/'))),
  });

describe('files of --config-dir are merged over --config', () => {
  test('one after the other: numbers are replaced, maps merged, lists replaced, null takes away', async () => {
    const { options, origins, warnings } = await load({
      '/etc/kubelet.yaml':
        'maxPods: 50\npodsPerCore: 3\nclusterDNS: [10.0.0.1]\nstaticPodPath: manifests\nauthentication: {anonymous: {enabled: true}}',
      '10.conf': 'maxPods: 70\nclusterDNS: [10.0.0.2]',
      '20.conf': 'maxPods: 80\npodsPerCore: null\nauthentication: {webhook: {cacheTTL: 5s}}',
      'notes.txt': 'maxPods: 1',
    });
    assert.deepEqual(
      [options.maxPods, options.podsPerCore, options.clusterDns, options.podManifestPath],
      [80, 0, ['10.0.0.2'], '/etc/manifests'],
    );
    assert.deepEqual([options.anonymousAuth, options.authenticationTokenWebhookCacheTtlMs], [true, 5_000]);
    assert.deepEqual([origins.maxPods, origins.syncFrequencyMs, warnings], ['file', 'default', []]);
  });

  test('and flags win over them', async () => {
    assert.equal((await load({ '/etc/kubelet.yaml': '', 'a.conf': 'maxPods: 70' }, '--max-pods=5')).options.maxPods, 5);
  });

  test('also without --config, whose defaults are theirs', async () => {
    const { options } = await loadOptions(['--config-dir=/d'], {
      hostname: 'n1',
      terminal: false,
      readFile: (path) => Promise.resolve(`${head}staticPodPath: ${path}`),
      listFiles: () => Promise.resolve(['a/b.conf']),
    });
    assert.equal(options.podManifestPath, '/d/a/b.conf');
  });
});

describe('a file of --config-dir', () => {
  test('that is wrong is named with its place', async () => {
    const wrong = load({ '/etc/kubelet.yaml': '', 'a.conf': 'maxPods: many', 'b.conf': 'authorization: {mode: x}' });
    await assert.rejects(
      wrong,
      new OptionsError([
        '/etc/kubelet.conf.d/a.conf:3:10 maxPods: expected a whole number from -2147483648 to 2147483647, found "many"',
        '/etc/kubelet.conf.d/b.conf:3:23 authorization.mode: expected AlwaysAllow or Webhook, found "x"',
      ]),
    );
  });

  test('with a field that no kubelet has is merged with a warning', async () => {
    const { options, warnings } = await load({ '/etc/kubelet.yaml': '', 'a.conf': 'maxPodz: 1\nmaxPods: 2' });
    assert.equal(options.maxPods, 2);
    assert.deepEqual(warnings, [
      { message: 'unknown config field is ignored; did you mean maxPods?', option: 'maxPodz', at: '/etc/kubelet.conf.d/a.conf:3:1' },
    ]);
  });

  test('with a field that is set twice is refused, as a kubelet does it', async () => {
    const twice = load({ '/etc/kubelet.yaml': '', 'a.conf': 'maxPods: 1\nmaxPods: 2' });
    await assert.rejects(twice, new OptionsError(['/etc/kubelet.conf.d/a.conf:4:1 a field is set twice in its map']));
  });

  test('may complete the gates of another', async () => {
    const files = {
      '/etc/kubelet.yaml': 'featureGates: {InPlacePodLevelResourcesVerticalScaling: false}',
      'a.conf': 'featureGates: {PodLevelResources: false}',
    };
    assert.deepEqual((await load(files)).warnings, [
      {
        message: 'feature gates have no meaning on this node: InPlacePodLevelResourcesVerticalScaling',
        option: 'featureGates',
      },
    ]);
    await assert.rejects(
      load({ '/etc/kubelet.yaml': '', 'a.conf': 'featureGates: {PodLevelResources: false}' }),
      new OptionsError([
        '/etc/kubelet.conf.d/a.conf:3:35 featureGates: InPlacePodLevelResourcesVerticalScaling is enabled, but depends on features that are disabled: [PodLevelResources]',
      ]),
    );
  });

  test('is checked together with the others', async () => {
    const together = load({ '/etc/kubelet.yaml': 'imageGCHighThresholdPercent: 70', 'a.conf': 'imageGCLowThresholdPercent: 75' });
    await assert.rejects(together, /75 must be less than imageGCHighThresholdPercent \(--image-gc-high-threshold\) 70$/);
  });
});

test('a directory that cannot be read is named with its flag', async () => {
  const missing = {
    hostname: 'n1',
    terminal: false,
    readFile: () => Promise.resolve(head),
    listFiles: () => Promise.reject(new Error('gone')),
  };
  await assert.rejects(loadOptions(['--config-dir=/d'], missing), new OptionsError(['flag --config-dir: cannot read /d: gone']));
});
