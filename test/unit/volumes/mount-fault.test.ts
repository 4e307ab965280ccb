import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MountStep, MountStepError } from '../../../src/model/mount-step-error.ts';
import { mountFault } from '../../../src/volumes/mount-fault.ts';

const cases: readonly (readonly [step: MountStep, ofFiles: string, ofDevice: string, reason: string])[] = [
  ['NodeAffinity check', 'MountVolume.NodeAffinity check failed', 'MapVolume.NodeAffinity check failed', 'FailedMount'],
  ['WaitForAttach', 'MountVolume.WaitForAttach failed', 'MapVolume.WaitForAttach failed', 'FailedMapVolume'],
  ['MountDevice', 'MountVolume.MountDevice failed', 'MapVolume.SetUpDevice failed', 'FailedMapVolume'],
  ['SetUp', 'MountVolume.SetUp failed', 'MapVolume.MapPodDevice failed', 'FailedMapVolume'],
  [
    'NodeExpandVolume',
    'MountVolume.NodeExpandVolume failed',
    'MapVolume.MarkVolumeAsMounted failed while expanding volume',
    'FailedMapVolume',
  ],
];
for (const [step, ofFiles, ofDevice, reason] of cases)
  test(`what fails in the step ${step} is named as a kubelet names it, of files and of devices`, () => {
    const error = new MountStepError(step, 'no such disk');
    assert.deepEqual(mountFault('mount', 'pv', error), { reason: 'FailedMount', message: `${ofFiles} for volume "pv" : no such disk` });
    assert.deepEqual(mountFault('device', 'pv', error), { reason, message: `${ofDevice} for volume "pv" : no such disk` });
  });

test('what names no step has failed in the last one', () => {
  assert.equal(mountFault('device', 'pv', new Error('gone')).message, 'MapVolume.MapPodDevice failed for volume "pv" : gone');
  assert.equal(mountFault('mount', 'pv', 'gone').message, 'MountVolume.SetUp failed for volume "pv" : gone');
});
