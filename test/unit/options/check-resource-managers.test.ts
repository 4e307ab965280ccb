import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadOptions } from '../../../src/options/load-options.ts';
import { OptionsError } from '../../../src/options/options-error.ts';
import { cpuPolicyOptions, topologyPolicyOptions } from '../../../src/options/resource-manager-options.ts';

async function problemsOf(...flags: readonly string[]): Promise<readonly string[]> {
  try {
    await loadOptions(flags, { hostname: 'n1', terminal: false, readFile: () => Promise.reject(new Error('no file')) });
    return [];
  } catch (error) {
    assert.ok(error instanceof OptionsError);
    return error.problems.map((problem) => problem.replace(/^invalid configuration: /, ''));
  }
}

const cpuOptions = 'cpuManagerPolicyOptions (--cpu-manager-policy-options)';
const topologyOptions = 'topologyManagerPolicyOptions (--topology-manager-policy-options)';
const ofCpus = (options: string, ...more: readonly string[]): Promise<readonly string[]> =>
  problemsOf('--cpu-manager-policy=static', `--cpu-manager-policy-options=${options}`, ...more);
const ofTopology = (options: string): Promise<readonly string[]> =>
  problemsOf('--topology-manager-policy=restricted', `--topology-manager-policy-options=${options}`);
const alpha = '--feature-gates=CPUManagerPolicyAlphaOptions=true';

test('policies are the ones of the kubelet', async () => {
  assert.deepEqual(await problemsOf('--cpu-manager-policy=dynamic'), [
    'option "dynamic" specified for cpuManagerPolicy (--cpu-manager-policy). Valid options are "none" or "static"',
  ]);
  assert.deepEqual(await problemsOf('--memory-manager-policy=static'), [
    'option "static" specified for memoryManagerPolicy (--memory-manager-policy). Valid options are "None" or "Static"',
  ]);
  assert.deepEqual(await problemsOf('--memory-manager-policy=Static', '--reserved-memory=0:memory=100Mi'), []);
  assert.deepEqual(await problemsOf('--cpu-manager-policy=static', '--reserved-cpus=0', '--topology-manager-policy=best-effort'), []);
});

test('options of the static policy are known, true or false, enabled, and go together', async () => {
  assert.deepEqual(await ofCpus('full-pcpus-only=true,strict-cpu-reservation=false,distribute-cpus-across-numa=true'), []);
  assert.deepEqual(await ofCpus('prefer-align-cpus-by-uncorecache=1'), []);
  assert.deepEqual(await ofCpus('full-cores=true'), [`${cpuOptions}: unknown CPU Manager Policy option: "full-cores"`]);
  assert.deepEqual(await ofCpus('full-pcpus-only=yes'), [
    `${cpuOptions}: bad value for option "full-pcpus-only": "yes" is neither true nor false`,
  ]);
  assert.deepEqual(await ofCpus('align-by-socket=true'), [
    `${cpuOptions}: option "align-by-socket" needs the feature gate CPUManagerPolicyAlphaOptions`,
  ]);
  assert.deepEqual(await ofCpus('distribute-cpus-across-numa=true', '--feature-gates=CPUManagerPolicyBetaOptions=false'), [
    `${cpuOptions}: option "distribute-cpus-across-numa" needs the feature gate CPUManagerPolicyBetaOptions`,
  ]);
  assert.deepEqual(await ofCpus('align-by-socket=true', alpha), []);
  for (const [one, other] of [
    ['full-pcpus-only', 'distribute-cpus-across-cores'],
    ['distribute-cpus-across-numa', 'distribute-cpus-across-cores'],
    ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-cores'],
    ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-numa'],
  ]) {
    assert.deepEqual(await ofCpus(`${one}=true,${other}=true`, alpha), [
      `${cpuOptions}: static policy options ${one} and ${other} can not be used at the same time`,
    ]);
    assert.deepEqual(await ofCpus(`${one}=true,${other}=false`, alpha), []);
  }
});

test('options go with their policies', async () => {
  assert.deepEqual(await problemsOf('--cpu-manager-policy-options=full-pcpus-only=true'), [
    `${cpuOptions}: the policy none has no options, found full-pcpus-only`,
  ]);
  assert.deepEqual(await ofCpus('align-by-socket=T', alpha, '--topology-manager-policy=single-numa-node'), [
    `${cpuOptions}: align-by-socket does not go with topologyManagerPolicy (--topology-manager-policy) single-numa-node`,
  ]);
  assert.deepEqual(await ofCpus('align-by-socket=true', alpha, '--topology-manager-policy=restricted'), []);
});

test('options of the topology policies are known and in their bounds', async () => {
  assert.deepEqual(await ofTopology('prefer-closest-numa-nodes=true,max-allowable-numa-nodes=8'), []);
  assert.deepEqual(await ofTopology('max-allowable-numa-nodes=7'), [
    `${topologyOptions}: the minimum value of "max-allowable-numa-nodes" should not be less than 8`,
  ]);
  assert.deepEqual(await ofTopology('max-allowable-numa-nodes=many'), [
    `${topologyOptions}: unable to convert policy option to integer "max-allowable-numa-nodes": "many" is none`,
  ]);
  assert.deepEqual(await ofTopology('prefer-closest-numa-nodes=near'), [
    `${topologyOptions}: bad value for option "prefer-closest-numa-nodes": "near" is neither true nor false`,
  ]);
  const unknown = `${topologyOptions}: unknown Topology Manager Policy option: "nearest"`;
  assert.deepEqual(await ofTopology('nearest=true'), [unknown]);
  assert.deepEqual(await ofTopology('nearest=true,max-allowable-numa-nodes=7'), [
    unknown,
    `${topologyOptions}: the minimum value of "max-allowable-numa-nodes" should not be less than 8`,
  ]);
});

test('what is not said is off, and 8 NUMA nodes', () => {
  assert.ok(Object.values(cpuPolicyOptions({})).every((on) => !on));
  assert.deepEqual(cpuPolicyOptions({ 'full-pcpus-only': 'true' }).fullPcpusOnly, true);
  assert.deepEqual(topologyPolicyOptions({}), { preferClosestNumaNodes: false, maxAllowableNumaNodes: 8 });
  assert.equal(topologyPolicyOptions({ 'max-allowable-numa-nodes': '16' }).maxAllowableNumaNodes, 16);
});

test('memory is reserved of one NUMA node by each flag', async () => {
  const from = { hostname: 'n1', terminal: false, readFile: () => Promise.reject(new Error('no file')) };
  const { options } = await loadOptions(
    ['--reserved-memory=0:memory=1Gi,hugepages-2Mi=0.5Gi', '--reserved-memory', '1:memory=2048Mi'],
    from,
  );
  assert.deepEqual(options.reservedMemory, [
    { numaNode: 0, limits: { memory: '1Gi', 'hugepages-2Mi': '512Mi' } },
    { numaNode: 1, limits: { memory: '2Gi' } },
  ]);
  const expected = 'expected a NUMA node and amounts of its memory, such as 0:memory=1Gi,hugepages-2Mi=8Mi';
  for (const [text, more] of [
    ['memory=1Gi', ''],
    ['0', ''],
    ['0:memory=1Gi:1', ''],
    ['first:memory=1Gi', ''],
    ['99999999999:memory=1Gi', ''],
    ['0:memory', ''],
    ['0:memory=1=2', ''],
    ['0:cpu=1', ': "cpu" is no kind of memory'],
    ['0:memory=lots', ': "lots" is no quantity'],
  ] as const)
    assert.deepEqual(await problemsOf(`--reserved-memory=${text}`), [`flag --reserved-memory: ${expected}${more}, found "${text}"`]);
  assert.deepEqual(await problemsOf('--reserved-memory=0:memory=0'), [
    'reserved memory may not be zero for NUMA node 0 and resource "memory"',
  ]);
  assert.deepEqual(await problemsOf('--reserved-memory=0:memory=1Gi', '--reserved-memory=0:memory=2Gi'), [
    'the reserved memory has a duplicate value for NUMA node 0 and resource "memory"',
  ]);
});
