import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadOptions, OptionsError } from '../../../src/options/load-options.ts';

const directory = join(import.meta.dirname, '../../builders/config-files');
const load = (name: string, ...flags: readonly string[]) =>
  loadOptions([`--config=${name}`, '--docker-endpoint=unix:///var/run/docker.sock', ...flags], {
    hostname: 'n1',
    terminal: false,
    readFile: (path) => readFile(join(directory, path), 'utf8'),
  });

describe('the config file that is found on a node starts the agent, with one warning for each option that has no meaning:', () => {
  for (const [name, warned] of [
    ['kubeadm-1.36.yaml', ['containerRuntimeEndpoint']],
    ['k3s-style.yaml', ['containerRuntimeEndpoint']],
    ['eks-style.json', ['containerRuntimeEndpoint', 'hairpinMode']],
  ] as const) {
    test(name, async () => {
      const { warnings } = await load(name);
      assert.deepEqual(warnings.map(({ option }) => option).toSorted(), warned);
      const others = warnings.filter(({ option }) => option !== 'containerRuntimeEndpoint');
      assert.deepEqual(
        others.filter(({ message }) => !message.startsWith('option has no meaning on this node: ')),
        [],
      );
    });
  }
});

test("the zeros of kubeadm's config file mean what Kubernetes' defaulting makes of them", async () => {
  const { options } = await load('kubeadm-1.36.yaml');
  const { syncFrequencyMs, fileCheckFrequencyMs, httpCheckFrequencyMs, runtimeRequestTimeoutMs, streamingConnectionIdleTimeoutMs } =
    options;
  assert.deepEqual(
    [syncFrequencyMs, fileCheckFrequencyMs, httpCheckFrequencyMs, runtimeRequestTimeoutMs, streamingConnectionIdleTimeoutMs],
    [60_000, 20_000, 20_000, 120_000, 14_400_000],
  );
  assert.deepEqual([options.nodeStatusUpdateFrequencyMs, options.nodeStatusReportFrequencyMs], [10_000, 300_000]);
  assert.equal(options.authenticationTokenWebhookCacheTtlMs, 120_000);
});

test('values of fields are checked alone and together, in the words of a kubelet', async () => {
  const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
  const problemsOf = async (text: string, ...flags: readonly string[]): Promise<readonly string[]> => {
    try {
      await loadOptions(['--config=x', ...flags], { hostname: 'n1', terminal: false, readFile: () => Promise.resolve(head + text) });
      return [];
    } catch (error) {
      assert.ok(error instanceof OptionsError);
      return error.problems;
    }
  };
  for (const [text, problem] of [
    [
      'imageGCHighThresholdPercent: 101',
      'imageGCHighThresholdPercent (--image-gc-high-threshold) 101 must be between 0 and 100, inclusive',
    ],
    [
      'imageGCLowThresholdPercent: 90',
      'imageGCLowThresholdPercent (--image-gc-low-threshold) 90 must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) 85',
    ],
    ['imageMaximumGCAge: 1m', 'imageMaximumGCAge 1m0s must be greater than imageMinimumGCAge 2m0s'],
    ['shutdownGracePeriodCriticalPods: 10s', 'shutdownGracePeriodCriticalPods {10s} must be <= shutdownGracePeriod {0s}'],
    ['memorySwap: {swapBehavior: Some}', 'memorySwap.swapBehavior "Some" must be one of: "", "LimitedSwap" or "NoSwap"'],
    [
      'crashLoopBackOff: {maxContainerRestartPeriod: 301s}',
      'CrashLoopBackOff.MaxContainerRestartPeriod (got: 301 seconds) must be set between 1s and 300s',
    ],
    [
      'enforceNodeAllocatable: [kube-reserved]',
      'kubeReservedCgroup (--kube-reserved-cgroup) must be specified when "kube-reserved" or "kube-reserved-compressible" included in enforceNodeAllocatable (--enforce-node-allocatable)',
    ],
    [
      'hairpinMode: z',
      'option "z" specified for hairpinMode (--hairpin-mode). Valid options are "none", "hairpin-veth" or "promiscuous-bridge"',
    ],
    [
      'reservedSystemCPUs: 0-x',
      'unable to parse reservedSystemCPUs (--reserved-cpus) 0-x, error: strconv.Atoi: parsing "x": invalid syntax',
    ],
    [
      'reservedMemory: [{numaNode: 0, limits: {cpu: 1}}]',
      'the limit type "cpu" for NUMA node 0 is not supported, only [memory hugepages-<HugePageSize>] is accepted',
    ],
  ] as const) {
    const problems = await problemsOf(text);
    assert.deepEqual(
      problems.map((said) => said.replace(/^x:3:\d+ /, '')),
      [`invalid configuration: ${problem}`],
      text,
    );
  }
  assert.deepEqual(await problemsOf('imageGCLowThresholdPercent: 90', '--image-gc-high-threshold=95'), []);
});
