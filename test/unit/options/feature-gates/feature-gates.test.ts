import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { featureGates, idleGates, possibleGates } from '../../../../src/options/feature-gates/feature-gates.ts';
import { decidingGates } from '../../../../src/options/feature-gates/deciding-gates.ts';
import { gateNeeds } from '../../../../src/options/feature-gates/gate-needs.ts';
import { knownGates } from '../../../../src/options/feature-gates/known-gates.ts';
import { loadOptions, OptionsError } from '../../../../src/options/load-options.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const load = (argv: readonly string[], text = '') =>
  loadOptions(['--config=x', ...argv], { hostname: 'n1', terminal: false, readFile: () => Promise.resolve(head + text) });

test('the gates as they are contradict nothing, and need only gates that are known', () => {
  assert.deepEqual(featureGates({}).faults, []);
  // 1.36 has 239; DynamicKubeletConfig is of older ones.
  assert.equal(knownGates.size, 240);
  for (const [name, needs] of gateNeeds) for (const each of [name, ...needs]) assert.ok(knownGates.has(each), each);
});

describe('gates that are given', () => {
  test('win over AllAlpha and AllBeta, wherever they stand', () => {
    const gates = featureGates({ MemoryQoS: false, AllAlpha: true, EnvFiles: true, AllBeta: false });
    assert.deepEqual(
      ['MemoryQoS', 'EventedPLEG', 'EnvFiles', 'PodLevelResources'].map((name) => gates.stateOf(name)),
      [false, true, true, false],
    );
    assert.ok(gates.stateOf('NodeSwap'));
  });

  test('are off where they are not known', () => {
    assert.equal(featureGates({ AllAlpha: true }).stateOf('constructor'), false);
  });

  for (const [name, given, faults] of [
    ['unknown', { MemoryQos: true }, ['unrecognized feature gate: MemoryQos; did you mean MemoryQoS?']],
    ['that every object has', { constructor: true }, ['unrecognized feature gate: constructor']],
    ['locked', { NodeSwap: false }, ['cannot set feature gate NodeSwap to false, feature is locked to true']],
    [
      'that others build on',
      { GenericWorkload: false, WorkloadWithJob: true },
      ['WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]'],
    ],
  ] as const) {
    test(`are refused when they are ${name}`, () => assert.deepEqual(featureGates(given).faults, faults));
  }

  test('are idle where they are set to another state and decide nothing here', () => {
    assert.deepEqual(idleGates({ RotateKubeletServerCertificate: true, AllAlpha: false, MemoryQoS: true, WatchList: true }), []);
    assert.deepEqual(idleGates({ SELinuxMount: true, HPAScaleToZero: true, WatchList: false }), [
      'HPAScaleToZero',
      'SELinuxMount',
      'WatchList',
    ]);
  });

  test('are looked at without those that cannot be set, or not at all where they do not go together', () => {
    assert.deepEqual(possibleGates({ MemoryQoS: true, NodeSwap: false, Nope: true }), { MemoryQoS: true });
    assert.deepEqual(possibleGates({ MemoryQoS: true, GenericWorkload: false, WorkloadWithJob: true }), {});
  });

  test('decide something only by names that are known', () => {
    for (const name of Object.keys(decidingGates)) assert.ok(knownGates.has(name), name);
  });
});

describe('on the way to the options', () => {
  test('a flag wins over the file gate by gate, for the rules too', async () => {
    const text = 'featureGates: {MemoryQoS: false, ContainerStopSignals: true}\nmemoryReservationPolicy: TieredReservation';
    await load(['--feature-gates=MemoryQoS=true'], text);
    await assert.rejects(load([], text), /memoryReservationPolicy "TieredReservation" requires MemoryQoS feature gate to be enabled$/);
  });

  test('a gate that cannot be set is named with its place', async () => {
    await assert.rejects(
      load([], 'featureGates: {NodeSwap: false}'),
      new OptionsError(['x:3:26 featureGates: cannot set feature gate NodeSwap to false, feature is locked to true']),
    );
    await assert.rejects(load(['--feature-gates=Nope=true']), new OptionsError(['flag --feature-gates: unrecognized feature gate: Nope']));
  });

  test('a flag that is none of them is refused in the words of Kubernetes', async () => {
    await assert.rejects(
      load(['--feature-gates=MemoryQoS']),
      new OptionsError([
        'flag --feature-gates: expected pairs such as A=true,B=false (missing bool value for MemoryQoS), found "MemoryQoS"',
      ]),
    );
  });

  test('only gates that change something and decide nothing here are warned of', async () => {
    assert.deepEqual((await load(['--feature-gates=NodeSwap=true,MemoryQoS=true'])).warnings, []);
    assert.deepEqual((await load(['--feature-gates=SELinuxMount=true'])).warnings, [
      { message: 'feature gates have no meaning on this node: SELinuxMount', option: '--feature-gates' },
    ]);
  });
});
