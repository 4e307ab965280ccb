import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whatRuntimeLacks } from '../../../../../src/engines/cri/containers/what-runtime-lacks.ts';

const all = { cdi: true, imageSubPaths: true };
const whole = { imageRef: 'sha256:1', containerPath: '/whole' };
const part = { ...whole, containerPath: '/part', subPath: 'etc/passwd' };

test('what a runtime would pass over in silence is told with what to do', () => {
  const devices = { cdiDevices: ['vendor.com/gpu=0'] };
  assert.equal(
    whatRuntimeLacks({ ...all, cdi: false }, devices),
    'device vendor.com/gpu=0: this runtime has no CDI, by which it is named: use containerd from 1.7 on',
  );
  assert.equal(
    whatRuntimeLacks({ ...all, imageSubPaths: false }, { imageMounts: [whole, part] }),
    'the image at /part: subPath "etc/passwd": this runtime mounts no part of an image: use containerd from 2.2 on, or CRI-O from 1.33 on',
  );
  for (const [features, spec] of [
    [all, { ...devices, imageMounts: [part] }],
    [
      { cdi: false, imageSubPaths: false },
      { cdiDevices: [], imageMounts: [whole, { ...whole, subPath: '' }] },
    ],
    [{ cdi: false, imageSubPaths: false }, {}],
  ] as const)
    assert.equal(whatRuntimeLacks(features, spec), undefined);
});
