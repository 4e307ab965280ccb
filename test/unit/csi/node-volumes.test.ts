import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { CsiCapability } from '../../../src/csi/csi-driver.ts';
import { writeVolumeData } from '../../../src/csi/volume-data.ts';
import { uniqueVolumeName } from '../../../src/csi/volume-paths.ts';
import { CSI, CsiNodeUnderTest, csiPod } from '../../builders/csi-node.ts';
import { type CsiBacking, CsiDriverUnderTest, emptyBacking } from '../../fakes/csi-driver.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const signal = AbortSignal.timeout(30_000);

/** As a driver that keeps a directory in place of each volume. */
const directories: CsiBacking = {
  ...emptyBacking,
  publish: async ({ targetPath }) => void (await mkdir(targetPath, { recursive: true })),
  unpublish: async (_id, path) => rmdir(path).catch(() => {}),
};

async function scene(t: TestContext, capabilities: readonly CsiCapability[] = ['STAGE_UNSTAGE_VOLUME'], backing = directories) {
  const node = await CsiNodeUnderTest.make();
  const driver = await CsiDriverUnderTest.listen(CSI, { backing, capabilities });
  t.after(async () => {
    await node[Symbol.asyncDispose]();
    await driver[Symbol.asyncDispose]();
  });
  await node.known.read(node.log);
  await node.drivers.register(driver.plugin, signal);
  return { node, driver };
}

test("a pod's own volume is published with what the pod is and tokens that the driver asks for, never staged, and is gone with the pod", async (t) => {
  const { node, driver } = await scene(t);
  node.driverObject({
    volumeLifecycleModes: ['Ephemeral'],
    podInfoOnMount: true,
    tokenRequests: [{ audience: 'vault', expirationSeconds: 600 }],
  });
  node.api.put('/api/v1/namespaces/default/secrets/login', { metadata: {}, data: { user: Buffer.from('root').toString('base64') } });
  const inline = { driver: CSI, fsType: 'ext4', volumeAttributes: { size: '1' }, nodePublishSecretRef: { name: 'login' } };
  const pod = csiPod();
  const path = await node.volumes.publish(node.task(pod, 'scratch', { inline }), signal);
  const directory = join(node.rootDir, 'pods/uid-web/volumes/kubernetes.io~csi/scratch');
  assert.equal(path, join(directory, 'mount'));
  const volumeId = `csi-${hash('sha256', 'uid-webscratch')}`;
  assert.deepEqual(driver.requests('NodePublishVolume'), [
    {
      volumeId,
      targetPath: path,
      volumeCapability: { accessType: { case: 'mount', value: { fsType: 'ext4' } }, accessMode: { mode: 1 } },
      secrets: { user: 'root' },
      volumeContext: {
        size: '1',
        'csi.storage.k8s.io/pod.name': 'web',
        'csi.storage.k8s.io/pod.namespace': 'default',
        'csi.storage.k8s.io/pod.uid': 'uid-web',
        'csi.storage.k8s.io/serviceAccount.name': 'robot',
        'csi.storage.k8s.io/ephemeral': 'true',
        'csi.storage.k8s.io/serviceAccount.tokens': `{"vault":{"token":"a.eyJleHAiOjE3NzAwMDAwMDB9.c","expirationTimestamp":"2026-02-02T02:40:00Z"}}`,
      },
    },
  ]);
  assert.deepEqual(JSON.parse(await readFile(join(directory, 'vol_data.json'), 'utf8')), {
    driverName: CSI,
    volumeHandle: volumeId,
    specVolID: 'scratch',
    nodeName: 'n1',
    volumeLifecycleMode: 'Ephemeral',
    complete: 'true',
  });
  assert.deepEqual(node.known.inUse(), []);
  await node.volumes.unpublish(pod.metadata.uid, signal);
  assert.deepEqual(driver.requests('NodeUnpublishVolume'), [{ volumeId, targetPath: path }]);
  assert.equal(existsSync(directory), false);
  assert.deepEqual(driver.called, ['NodePublishVolume', 'NodeUnpublishVolume']);
  assert.equal(await node.volumes.remain(pod.metadata.uid), false);
});

test('a driver that takes no such volumes is not asked, and one that is not there is named as the kubelet names it', async (t) => {
  const { node, driver } = await scene(t);
  const refused = (name: string, message: RegExp): Promise<void> =>
    assert.rejects(node.volumes.publish(node.task(csiPod(), 'scratch', { inline: { driver: name } }), signal), message);
  await refused(CSI, /volume mode "Ephemeral" not supported by driver csi\.example\.com \(no CSIDriver object\)$/);
  node.driverObject({});
  await refused(CSI, /not supported by driver csi\.example\.com \(only supports \["Persistent"\]\)$/);
  await refused(
    'nfs',
    /kubernetes\.io\/csi: mounter\.SetUpAt failed to get CSI client: driver name nfs not found in the list of registered CSI drivers$/,
  );
  node.driverObject({ volumeLifecycleModes: ['Ephemeral'] });
  await assert.rejects(
    node.volumes.publish(node.task(csiPod(), 'pv-1', node.claimed()), signal),
    /volume mode "Persistent" not supported by driver csi\.example\.com \(only supports \["Ephemeral"\]\)$/,
  );
  assert.deepEqual(driver.called, []);
  await node.volumes.unpublish(csiPod().metadata.uid, signal);
});

test("a claim's volume is staged once for all pods, published for each, and unstaged after the last", async (t) => {
  const { node, driver } = await scene(t);
  node.attach('../h', { lun: '3' });
  const source = node.claimed({
    csi: {
      driver: CSI,
      volumeHandle: '../h',
      fsType: 'xfs',
      volumeAttributes: { a: 'b' },
      nodeStageSecretRef: { name: 'key', namespace: 'kube-system' },
    },
    mountOptions: ['noatime'],
    accessModes: ['ReadWriteMany'],
  });
  node.attach('../h', { lun: '3' });
  node.api.put('/api/v1/namespaces/kube-system/secrets/key', { metadata: {}, data: { key: Buffer.from('s').toString('base64') } });
  node.start();
  const [one, two] = [csiPod('one'), csiPod('two')];
  await node.volumes.publish(node.task(one, 'pv-1', source), signal);
  await node.volumes.publish(node.task(two, 'pv-1', source, true), signal);
  assert.deepEqual(node.known.inUse(), [uniqueVolumeName(CSI, '../h')]);
  const above = join(node.rootDir, 'plugins/kubernetes.io/csi', CSI);
  const [staged = ''] = await readdir(above);
  assert.match(staged, /^[0-9a-f]{64}$/);
  const volumeCapability = {
    accessType: { case: 'mount', value: { fsType: 'xfs', mountFlags: ['noatime'] } },
    accessMode: { mode: 5 },
  };
  const common = {
    volumeId: '../h',
    publishContext: { lun: '3' },
    stagingTargetPath: join(above, staged, 'globalmount'),
    volumeCapability,
  };
  assert.deepEqual(driver.requests('NodeStageVolume'), [{ ...common, secrets: { key: 's' }, volumeContext: { a: 'b' } }]);
  const target = (uid: string): string => join(node.rootDir, 'pods', uid, 'volumes/kubernetes.io~csi/pv-1/mount');
  assert.deepEqual(driver.requests('NodePublishVolume'), [
    { ...common, targetPath: target('uid-one'), volumeContext: { a: 'b' } },
    { ...common, targetPath: target('uid-two'), readonly: true, volumeContext: { a: 'b' } },
  ]);
  await node.volumes.unpublish(one.metadata.uid, signal);
  assert.equal(driver.requests('NodeUnstageVolume').length, 0);
  const unstaged = new Promise<void>((resolve) => driver.server.calls.subscribe((method) => method === 'NodeUnstageVolume' && resolve()));
  const free = new Promise<void>((resolve) => node.known.changes.subscribe(() => resolve()));
  await node.volumes.unpublish(two.metadata.uid, signal);
  await unstaged;
  await free;
  assert.deepEqual(node.known.inUse(), []);
  assert.deepEqual(await readdir(above), []);
});

test('what the driver can and the volume says makes the access mode', async (t) => {
  for (const [accessMode, plain, told] of [
    ['ReadWriteOnce', 1, 7],
    ['ReadWriteOncePod', 1, 6],
    ['ReadOnlyMany', 3, 3],
    ['ReadWriteMany', 5, 5],
  ] as const) {
    for (const [capabilities, mode] of [
      [[], plain],
      [['SINGLE_NODE_MULTI_WRITER'], told],
    ] as const) {
      await t.test(`${accessMode} ${capabilities.join()}`, async (inner) => {
        const { node, driver } = await scene(inner, capabilities);
        await node.volumes.publish(node.task(csiPod(), 'pv-1', node.claimed({ accessModes: [accessMode] })), signal);
        const [request] = driver.requests('NodePublishVolume');
        assert.deepEqual(request?.['volumeCapability'], { accessType: { case: 'mount', value: {} }, accessMode: { mode } });
        assert.equal(driver.requests('NodeStageVolume').length, 0);
      });
    }
  }
});

test('a volume for one pod is had by one: of two that begin together, and until the first is gone', async (t) => {
  const { node } = await scene(t);
  const source = node.claimed({ accessModes: ['ReadWriteOncePod'] });
  const pods = [csiPod('one'), csiPod('two')];
  const publish = (): Promise<PromiseSettledResult<string>[]> =>
    Promise.allSettled(pods.map((pod) => node.volumes.publish(node.task(pod, 'pv-1', source), signal)));
  const ends = await publish();
  assert.deepEqual(ends.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  const failed = ends.find((end) => end.status === 'rejected');
  assert.match(String(failed?.reason), /volume uses the ReadWriteOncePod access mode and is already in use by another pod/);
  assert.deepEqual(
    (await publish()).map(({ status }) => status),
    ends.map(({ status }) => status),
  );
  const [first, second] = ends[0]?.status === 'fulfilled' ? pods : pods.toReversed();
  assert.ok(first && second);
  await node.volumes.unpublish(first.metadata.uid, signal);
  await node.volumes.publish(node.task(second, 'pv-1', source), signal);
});

test('the volume is given to the fsGroup by the driver, by the agent, or by nobody', async (t) => {
  for (const [capability, policy, spec, given, byDriver] of [
    ['VOLUME_MOUNT_GROUP', 'File', {}, 0, '77'],
    [undefined, 'File', {}, 1, undefined],
    [undefined, 'None', { csi: { fsType: 'ext4' } }, 0, undefined],
    [undefined, undefined, { csi: { fsType: 'ext4' } }, 1, undefined],
    [undefined, undefined, { csi: {} }, 0, undefined],
    [undefined, 'ReadWriteOnceWithFSType', { csi: { fsType: 'ext4' }, accessModes: ['ReadWriteMany'] }, 0, undefined],
  ] as const) {
    await t.test(`${capability} ${policy} ${JSON.stringify(spec)}`, async (inner) => {
      const { node, driver } = await scene(inner, capability ? [capability] : []);
      if (policy) node.driverObject({ fsGroupPolicy: policy });
      const csi = { driver: CSI, volumeHandle: 'h', ...('csi' in spec ? spec.csi : {}) };
      await node.volumes.publish(node.task(csiPod('web', 77), 'pv-1', node.claimed({ ...spec, csi })), signal);
      assert.equal(node.given.length, given);
      const [request] = driver.requests('NodePublishVolume');
      const { fsType } = csi as { fsType?: string };
      const value = { ...(fsType && { fsType }), ...(byDriver && { volumeMountGroup: byDriver }) };
      const accessType = { case: 'mount', value };
      assert.deepEqual(request?.['volumeCapability'], { accessType, accessMode: { mode: 'accessModes' in spec ? 5 : 1 } });
    });
  }
});

test('a volume that is refused leaves nothing; one of which nobody knows is taken back with its pod, and unstaged', async (t) => {
  const { node, driver } = await scene(t);
  const pod = csiPod();
  const directory = join(node.rootDir, 'pods/uid-web/volumes/kubernetes.io~csi/pv-1');
  const task = node.task(pod, 'pv-1', node.claimed());
  driver.fault('NodePublishVolume', { is: 'error', code: 'InvalidArgument', words: 'no such mode' });
  const words = { message: 'rpc error: code = InvalidArgument desc = no such mode', step: 'SetUp' };
  await assert.rejects(node.volumes.publish(task, signal), words);
  assert.equal(existsSync(directory), false);
  driver.fault('NodePublishVolume', { is: 'die', done: true });
  await assert.rejects(node.volumes.publish(task, signal), /rpc error: code = /);
  assert.equal(await node.volumes.remain(pod.metadata.uid), true);
  node.start();
  const free = new Promise<void>((resolve) => node.known.changes.subscribe(() => resolve()));
  await node.volumes.unpublish(pod.metadata.uid, signal);
  await free;
  assert.equal(existsSync(directory), false);
  assert.deepEqual(driver.called.slice(-2), ['NodeUnpublishVolume', 'NodeUnstageVolume']);
  driver.fault('NodeStageVolume', { is: 'error', code: 'Internal', words: 'disk broken' });
  await assert.rejects(node.volumes.publish(task, signal), {
    message: 'rpc error: code = Internal desc = disk broken',
    step: 'MountDevice',
  });
});

test('a volume waits until the node says that it is in use and attached', async (t) => {
  const { node, driver } = await scene(t);
  const source = node.claimed();
  const name = uniqueVolumeName(CSI, 'handle-1');
  const status = (volumesInUse: string[], attached: string[]): void =>
    node.nodes.next({ status: { volumesInUse, volumesAttached: attached.map((each) => ({ name: each, devicePath: '' })) } });
  status([], []);
  const publishing = node.volumes.publish(node.task(csiPod(), 'pv-1', source), signal);
  const marked = new Promise<void>((resolve) => node.known.changes.subscribe(() => resolve()));
  await marked;
  assert.deepEqual(node.known.inUse(), [name]);
  status([], [name]);
  status([name], ['another']);
  assert.deepEqual(driver.called, []);
  status([name], [name]);
  await publishing;
  // One that need not be attached does not wait.
  status([], []);
  node.driverObject({ attachRequired: false });
  await node.volumes.publish(
    node.task(csiPod('two'), 'pv-2', { ...source, persistent: { spec: { csi: { driver: CSI, volumeHandle: 'other' } } } }),
    signal,
  );
});

test('a driver that says what is not so is not believed, and nothing leads out of the pod', async (t) => {
  const lying: CsiBacking = { ...emptyBacking, publish: async ({ targetPath }) => symlink('/', targetPath) };
  const { node } = await scene(t, [], lying);
  const pod = csiPod();
  await assert.rejects(
    node.volumes.publish(node.task(pod, 'pv-1', node.claimed()), signal),
    /the driver says that the volume is published, but there is a link at .*mount in place of a directory$/,
  );
  await node.volumes.unpublish(pod.metadata.uid, signal);
  assert.ok(existsSync('/etc'));
  for (const name of ['..', 'a/b', '', '.', 'a\0b', 'n'.repeat(256)]) {
    await assert.rejects(node.volumes.publish(node.task(pod, name, node.claimed()), signal), /cannot name a directory$/, name);
  }
  const elsewhere = { persistent: { spec: { csi: { driver: '../../etc', volumeHandle: 'h' } } }, claim: {} };
  await assert.rejects(node.volumes.publish(node.task(pod, 'pv-1', elsewhere), signal), /not found in the list of registered CSI drivers/);
});

test('a volume whose driver is gone keeps its pod, and says why; one whose driver hangs holds up no other', async (t) => {
  const { node, driver } = await scene(t);
  const [one, two] = [csiPod('one'), csiPod('two')];
  await node.volumes.publish(node.task(one, 'pv-1', node.claimed()), signal);
  await node.volumes.publish(node.task(two, 'pv-2', node.claimed({ csi: { driver: CSI, volumeHandle: 'h2' } })), signal);
  driver.fault('NodeUnpublishVolume', { is: 'hang' });
  const deleted = new AbortController();
  const asked = new Promise<void>((resolve) => driver.server.calls.subscribe(() => resolve()));
  const hanging = assert.rejects(node.volumes.unpublish(one.metadata.uid, deleted.signal), /given up/);
  await asked;
  await node.volumes.unpublish(two.metadata.uid, signal);
  deleted.abort(new Error('given up'));
  await hanging;
  await node.drivers.deregister(driver.plugin);
  await assert.rejects(node.volumes.unpublish(one.metadata.uid, signal), {
    message:
      'UnmountVolume.TearDown failed for volume "pv-1" : kubernetes.io/csi: Unmounter.TearDownAt failed to get CSI client: ' +
      'driver name csi.example.com not found in the list of registered CSI drivers',
  });
  assert.equal(await node.volumes.remain(one.metadata.uid), true);
  await node.drivers.register(driver.plugin, signal);
  await node.volumes.unpublish(one.metadata.uid, signal);
});

test('a volume that has become larger grows, and its claim says so', async (t) => {
  const { node, driver } = await scene(t, ['EXPAND_VOLUME']);
  const path = '/api/v1/namespaces/default/persistentvolumeclaims/data';
  const status = { capacity: { storage: '1Gi' }, conditions: [{ type: 'FileSystemResizePending', status: 'True' }] };
  node.api.put(path, { metadata: {}, status });
  const source = node.claimed({ capacity: { storage: '2Gi' } }, status);
  await node.volumes.publish(node.task(csiPod(), 'pv-1', source), signal);
  const [request] = driver.requests('NodeExpandVolume');
  assert.deepEqual(request?.['capacityRange'], { requiredBytes: 2 ** 31, limitBytes: 0 });
  assert.deepEqual(node.api.stored(path)?.['status'], { capacity: { storage: '2Gi' }, conditions: [] });
});

test("what cannot be read of a volume that is not there is in nobody's way", async (t) => {
  const { node } = await scene(t);
  const directory = join(node.rootDir, 'pods/uid-web/volumes/kubernetes.io~csi/pv-1');
  await mkdir(directory, { recursive: true });
  for (const text of ['', '{', '[]', '{"driverName":"d"}', 'x'.repeat(70_000)]) {
    await writeFile(join(directory, 'vol_data.json'), text);
    await node.known.read(node.log);
    await node.volumes.unpublish(csiPod().metadata.uid, signal);
    assert.deepEqual(await readdir(directory), []);
  }
});

test('what cannot be read of one pod, or one driver, is said, and keeps nobody from the others', async () => {
  const log = new RecordingLogger();
  await using node = await CsiNodeUnderTest.make({ log });
  const pods = join(node.rootDir, 'pods');
  const plugin = join(node.rootDir, 'plugins/kubernetes.io/csi');
  for (const directory of [join(pods, 'bad/volumes'), join(pods, 'good/volumes/kubernetes.io~csi/pv-1'), plugin])
    await mkdir(directory, { recursive: true });
  for (const loop of [join(pods, 'bad/volumes/kubernetes.io~csi'), join(plugin, 'bad')]) await symlink(loop, loop);
  await writeVolumeData(join(pods, 'good/volumes/kubernetes.io~csi/pv-1'), { driverName: CSI, volumeHandle: 'h' });
  await node.known.read(log);
  assert.deepEqual(
    node.known.uses().map(({ uid }) => uid),
    ['good'],
  );
  assert.equal(log.lines.length, 2);
});

test('a handle that would fill the status of the node is refused, also where a pod has chosen it', async (t) => {
  const { node, driver } = await scene(t);
  for (const [length, made] of [
    [1024, 'published'],
    [1025, 'the volume handle of pv-1 has 1025 bytes, of at most 1024'],
  ] as const) {
    const source = node.claimed({ csi: { driver: CSI, volumeHandle: 'h'.repeat(length) } });
    const end = node.volumes.publish(node.task(csiPod(), 'pv-1', source), signal).then(
      () => 'published',
      (error: unknown) => (error instanceof Error ? error.message : ''),
    );
    assert.equal(await end, made);
    await node.volumes.unpublish(csiPod().metadata.uid, signal);
  }
  assert.equal(driver.requests('NodePublishVolume').length, 1);
  assert.ok(node.known.inUse()?.every((name) => name.length < 1100));
});

test('a volume for one pod is mounted with its context of SELinux, also after a restart, and staged anew for a pod of another one', async (t) => {
  const { node, driver } = await scene(t);
  node.fileContext = 'system_u:object_r:container_file_t:s0';
  node.driverObject({ seLinuxMount: true });
  const pod = (name: string, level: string) => {
    const { metadata, spec } = csiPod(name);
    const containers = spec.containers.map((each) => ({ ...each, volumeMounts: [{ name: 'pv-1', mountPath: '/data' }] }));
    return { metadata, spec: { ...spec, containers, securityContext: { ...spec.securityContext, seLinuxOptions: { level } } } };
  };
  const source = node.claimed({ accessModes: ['ReadWriteOncePod'], mountOptions: ['noatime'] });
  const flags = (method: 'NodeStageVolume' | 'NodePublishVolume'): readonly string[] =>
    driver.requests(method).map((each) => /"mountFlags":(\[.*?\])/.exec(JSON.stringify(each))?.[1] ?? '');
  const flagsOf = (level: string): string => JSON.stringify(['noatime', `context="system_u:object_r:container_file_t:${level}"`]);
  const one = pod('one', 's0:c1,c2');
  const path = await node.volumes.publish(node.task(one, 'pv-1', source), signal);
  assert.deepEqual([flags('NodeStageVolume'), flags('NodePublishVolume')], [[flagsOf('s0:c1,c2')], [flagsOf('s0:c1,c2')]]);
  assert.equal(node.volumes.hasContext(path), true);
  await node.restart();
  await node.drivers.register(driver.plugin, signal);
  assert.equal(node.volumes.hasContext(path), true);
  // Nothing takes back what is staged, until another pod wants it otherwise.
  await node.volumes.unpublish(one.metadata.uid, signal);
  assert.equal(node.volumes.hasContext(path), false);
  const again = await node.volumes.publish(node.task(pod('two', 's0:c1,c2'), 'pv-1', source), signal);
  assert.deepEqual(
    driver.called.filter((each) => each === 'NodeUnstageVolume'),
    [],
  );
  await node.volumes.unpublish(pod('two', '').metadata.uid, signal);
  assert.notEqual(again, path);
  await node.volumes.publish(node.task(pod('three', 's0:c3'), 'pv-1', source), signal);
  assert.deepEqual(driver.called.slice(-3), ['NodeUnstageVolume', 'NodeStageVolume', 'NodePublishVolume']);
  assert.equal(flags('NodeStageVolume').at(-1), flagsOf('s0:c3'));
});

test('calls of drivers, and what is done about volumes, is told with how long it took and how it went', async (t) => {
  const { node, driver } = await scene(t, ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME']);
  const method = (name: string): string => `/csi.v1.Node/${name}`;
  const calls = (): readonly string[] =>
    node.happenings.of('csiDriverCalled').map((call) => {
      assert.equal(call.driver, CSI);
      assert.ok(call.tookMs >= 0);
      return `${call.method} ${call.code}${call.isMigrated ? ' migrated' : ''}`;
    });
  const operations = (): readonly string[] =>
    node.happenings.of('storageOperated').map(({ operation, plugin, failed, isMigrated = false }) => {
      assert.equal(plugin, `kubernetes.io/csi:${CSI}`);
      return `${operation}${failed ? ' failed' : ''}${isMigrated ? ' migrated' : ''}`;
    });
  const pod = csiPod();
  const source = { ...node.claimed(), isMigrated: true };
  driver.fault('NodePublishVolume', { is: 'error', code: 'Aborted', words: 'busy' });
  await assert.rejects(node.volumes.publish(node.task(pod, 'pv-1', source), signal));
  await node.volumes.publish(node.task(pod, 'pv-1', source), signal);
  driver.fault('NodeUnpublishVolume', { is: 'die' });
  await assert.rejects(node.volumes.unpublish(pod.metadata.uid, signal));
  await node.volumes.unpublish(pod.metadata.uid, signal);
  const key = node.known.idle()[0] ?? '';
  await node.volumes.unstage(key, node.drivers.get(CSI), signal);
  await node.volumes.unstage(key, node.drivers.get(CSI), signal);
  assert.deepEqual(calls(), [
    `${method('NodeGetInfo')} OK`,
    `${method('NodeGetCapabilities')} OK`,
    `${method('NodeStageVolume')} OK migrated`,
    `${method('NodePublishVolume')} Aborted migrated`,
    `${method('NodePublishVolume')} OK migrated`,
    // What is taken back is known by its directory alone.
    `${method('NodeUnpublishVolume')} Unavailable`,
    `${method('NodeUnpublishVolume')} OK`,
    `${method('NodeUnstageVolume')} OK`,
  ]);
  assert.deepEqual(operations(), ['volume_unmount failed', 'volume_unmount', 'unmount_device']);
  await node.volumes.unpublish(csiPod('other').metadata.uid, signal);
  assert.equal(operations().length, 3);
});
