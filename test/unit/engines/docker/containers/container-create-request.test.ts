import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerCreateRequest } from '../../../../../src/engines/docker/containers/container-create-request.ts';
import type { ContainerSpec, Mount } from '../../../../../src/ports/container-runtime.ts';
import { aContainer, aPod } from '../../../../builders/a-pod.ts';

function hostConfigOf(over: Partial<ContainerSpec>, asksForOneMount = false): Readonly<Record<string, unknown>> {
  const container = aContainer('app');
  return containerCreateRequest({
    pod: aPod('web', { containers: [container] }),
    spec: { container, attempt: 0, imageRef: 'sha256:1', env: [], command: undefined, args: undefined, mounts: [], ...over },
    sandboxId: 's',
    imageUser: { uid: 0n },
    seccomp: [],
    node: { memoryCapacityBytes: 2 ** 30, cpuCfsQuota: true, cpuCfsQuotaPeriodUs: 100_000, podPidsLimit: -1 },
    podLogsDir: '/logs',
    logConfig: undefined,
    cgroupParent: '',
    extraSupplementalGroups: [],
    asksForOneMount,
  }).body.HostConfig;
}

function mountsOf(asksForOneMount: boolean, ...over: readonly Partial<Mount>[]): { readonly Binds: unknown; readonly Mounts: unknown } {
  const mounts = over.map((each, i) => ({ hostPath: `/h${i}`, containerPath: `/c${i}`, readOnly: true, ...each }));
  const { Binds, Mounts } = hostConfigOf({ mounts }, asksForOneMount);
  return { Binds, Mounts };
}

const bindMount = (i: number, BindOptions: object): object => ({
  Type: 'bind',
  Source: `/h${i}`,
  Target: `/c${i}`,
  ReadOnly: true,
  BindOptions: { CreateMountpoint: true, ...BindOptions },
});

test('an older engine is asked as it always was', () => {
  assert.deepEqual(mountsOf(false, {}, { readOnly: false }, { propagation: 'hostToContainer' }), {
    Binds: ['/h0:/c0:ro', '/h1:/c1', '/h2:/c2:ro,rslave'],
    Mounts: undefined,
  });
});

test('an engine that would go deeper is asked for one mount, unless all below it is to be read-only', () => {
  assert.deepEqual(mountsOf(true, {}, { readOnly: false }, { propagation: 'bidirectional' }, { recursiveReadOnly: true }), {
    Binds: ['/h1:/c1'],
    Mounts: [
      bindMount(0, { Propagation: 'rprivate', ReadOnlyNonRecursive: true }),
      bindMount(2, { Propagation: 'rshared', ReadOnlyNonRecursive: true }),
      bindMount(3, { Propagation: 'rprivate', ReadOnlyForceRecursive: true }),
    ],
  });
});

test('what is to be labelled is asked for in the only way there is', () => {
  assert.deepEqual(mountsOf(true, { relabel: true }, { relabel: true, readOnly: false, propagation: 'hostToContainer' }), {
    Binds: ['/h0:/c0:ro,Z', '/h1:/c1:Z,rslave'],
    Mounts: undefined,
  });
});

test("a class's handler is the runtime of that name, but docker is the engine's default, as it is for the sandbox", () => {
  const runtime = (handler?: string): unknown => hostConfigOf({ handler })['Runtime'];
  assert.deepEqual([runtime('kata'), runtime('docker'), runtime()], ['kata', undefined, undefined]);
});

test('devices are asked for of CDI by their names, and not at all where there are none', () => {
  const requests = (cdiDevices: readonly string[]): unknown => hostConfigOf({ cdiDevices })['DeviceRequests'];
  assert.deepEqual(requests(['vendor.com/gpu=0', 'vendor.com/gpu=1']), [
    { Driver: 'cdi', DeviceIDs: ['vendor.com/gpu=0', 'vendor.com/gpu=1'] },
  ]);
  assert.equal(requests([]), undefined);
});
