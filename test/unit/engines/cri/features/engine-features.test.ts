import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CgroupDriver, RuntimeService } from '../../../../../src/engines/cri/api/runtime_pb.js';
import { engineFeatures, type FeaturesDeps } from '../../../../../src/engines/cri/features/engine-features.ts';
import { rpcError, ScriptedCri } from '../../../../fakes/scripted-cri.ts';

const { version, status, runtimeConfig } = RuntimeService.method;
const never = new AbortController().signal;
/** As containerd 1.6 says it in a verbose status, cut to what is read. */
const config16 = {
  containerd: { defaultRuntimeName: 'runc', runtimes: { runc: { options: { SystemdCgroup: true } }, another: { options: {} } } },
  sandboxImage: 'registry.k8s.io/pause:3.6',
  containerdRootDir: '/var/lib/containerd',
};

const aRuntime = (runtimeName: string, runtimeVersion: string): ScriptedCri =>
  new ScriptedCri()
    .answer(version, () => ({ version: '0.1.0', runtimeName, runtimeVersion, runtimeApiVersion: 'v1' }))
    .answer(status, () => ({ status: { conditions: [] } }));
const features = (client: ScriptedCri, over: Partial<FeaturesDeps> = {}) =>
  engineFeatures({ client, cgroupVersion: 2, cgroupDriver: 'cgroupfs', ...over }, never);

describe('what a runtime can do', () => {
  test('is what it says in its status and its configuration', async () => {
    const cri = aRuntime('containerd', 'v2.1.9')
      .answer(status, () => ({
        runtimeHandlers: [
          { name: 'runc', features: { recursiveReadOnlyMounts: true, userNamespaces: true } },
          { name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: true } },
          { name: 'gvisor' },
        ],
        features: { supplementalGroupsPolicy: true },
        info: { config: '{}' },
      }))
      .answer(runtimeConfig, () => ({ linux: { cgroupDriver: CgroupDriver.SYSTEMD } }));
    assert.deepEqual(await features(cri), {
      handlers: [
        { name: '', recursiveReadOnly: true, userNamespaces: true },
        { name: 'gvisor', recursiveReadOnly: false, userNamespaces: false },
        { name: 'runc', recursiveReadOnly: true, userNamespaces: true },
      ],
      supplementalGroupsPolicy: true,
      idsForEachPod: true,
      imageVolumes: 'often',
      cgroups: { driver: 'systemd', version: 2 },
      sandboxImage: undefined,
      unwatchedPullsIn: undefined,
      cdi: true,
      imageSubPaths: false,
    });
  });

  test('is read from the configuration of one that has no words for it yet', async () => {
    const cri = aRuntime('containerd', '1.6.20~ds1').answer(status, () => ({ info: { config: JSON.stringify(config16) } }));
    assert.deepEqual(await features(cri), {
      handlers: [
        { name: '', recursiveReadOnly: false, userNamespaces: false },
        { name: 'another', recursiveReadOnly: false, userNamespaces: false },
        { name: 'runc', recursiveReadOnly: false, userNamespaces: false },
      ],
      supplementalGroupsPolicy: false,
      idsForEachPod: true,
      imageVolumes: 'never',
      cgroups: { driver: 'systemd', version: 2 },
      sandboxImage: 'registry.k8s.io/pause:3.6',
      unwatchedPullsIn: '/var/lib/containerd',
      cdi: false,
      imageSubPaths: false,
    });
  });

  for (const config of ['', 'not JSON', '[]', '{"containerd":7,"sandboxImage":8}', '{"containerd":{"runtimes":{"x":null}}}'])
    test(`is the least where it says ${config || 'nothing'}, with the driver of the options`, async () => {
      const { handlers, ...others } = await features(
        aRuntime('another', 'x').answer(status, () => ({ info: { config } })),
        { cgroupDriver: 'systemd' },
      );
      assert.equal(handlers[0]?.name, '');
      assert.deepEqual(others, {
        supplementalGroupsPolicy: false,
        idsForEachPod: true,
        imageVolumes: 'never',
        cgroups: { driver: 'systemd', version: 2 },
        sandboxImage: undefined,
        unwatchedPullsIn: undefined,
        cdi: true,
        imageSubPaths: false,
      });
    });

  for (const [name, at, can] of [
    ['containerd', '2.0.9', false],
    ['containerd', 'v2.1.0-rc.1', true],
    ['containerd', '10.0', true],
    ['cri-o', '1.30.5', false],
    ['cri-o', '1.31.0', true],
    ['another', '9.9', false],
  ] as const)
    test(`${can ? 'has' : 'has no'} image volumes in ${name} ${at}`, async () =>
      assert.equal((await features(aRuntime(name, at))).imageVolumes, can ? 'often' : 'never'));

  for (const [name, at, can] of [
    ['containerd', '2.1.9', false],
    ['containerd', '2.2.0', true],
    ['cri-o', '1.32.4', false],
    ['cri-o', '1.33.0', true],
    ['another', '9.9', false],
  ] as const)
    test(`${can ? 'mounts' : 'mounts no'} parts of images in ${name} ${at}`, async () =>
      assert.equal((await features(aRuntime(name, at))).imageSubPaths, can));

  test('has no control groups where the machine has none', async () => {
    assert.equal((await features(aRuntime('containerd', '2.1'), { cgroupVersion: undefined })).cgroups, undefined);
  });

  test('has no more handlers than can be meant', async () => {
    const runtimeHandlers = Array.from({ length: 10_000 }, (_, at) => ({ name: `h${at}` }));
    const { handlers } = await features(aRuntime('containerd', '2.1').answer(status, () => ({ runtimeHandlers })));
    assert.equal(handlers.length, 1001);
  });

  test('is not known of one that fails to answer', async () => {
    const failing = aRuntime('containerd', '2.1').answer(runtimeConfig, () => {
      throw rpcError('RuntimeConfig', 'Unavailable', 'gone');
    });
    await assert.rejects(features(failing), /gone/);
  });
});
