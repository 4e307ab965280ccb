import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfigFile } from '../../builders/parse-config-file.ts';
import { configz } from '../../../src/options/configz.ts';
import { loadOptions } from '../../../src/options/load-options.ts';

const load = async (...argv: readonly string[]): Promise<Readonly<Record<string, unknown>>> =>
  configz((await loadOptions(argv, { hostname: 'n', terminal: true, readFile: () => Promise.reject(new Error('no file')) })).options);

test('the configuration is shown as a config file would have it', async () => {
  const config = await load(
    '--sync-frequency=90s',
    '--pod-manifest-path=/m',
    '--max-pods=7',
    '--v=3',
    '--register-with-taints=a=b:NoSchedule',
  );
  assert.equal(config['syncFrequency'], '1m30s');
  assert.equal(config['staticPodPath'], '/m');
  assert.equal(config['maxPods'], 7);
  assert.deepEqual(config['registerWithTaints'], [{ key: 'a', value: 'b', effect: 'NoSchedule' }]);
  assert.deepEqual(config['logging'], { format: 'text', verbosity: 3, vmodule: [] });
});

test('what is shown is a config file that means the same', async () => {
  const text = JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    ...(await load('--max-pods=7')),
  });
  const { values, problems, idle } = await parseConfigFile(text, '/config');
  assert.deepEqual([problems, idle.size], [[], 0]);
  assert.equal(values.maxPods, 7);
  assert.equal(values.syncFrequencyMs, 60_000);
});

test('secrets are not shown', async () => {
  const config = await load('--manifest-url=https://me:hunter2@host/pods?key=hunter2', '--manifest-url-header=Authorization:hunter2');
  assert.equal(config['staticPodURL'], 'https://me:[redacted]@host/pods?[redacted]');
  assert.deepEqual(config['staticPodURLHeader'], { Authorization: ['[redacted]'] });
});
