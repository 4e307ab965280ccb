import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { V1CSINode, V1PersistentVolumeClaim, V1VolumeAttachment } from '@kubernetes/client-node';
import type { Wire } from '../../../src/model/wire.ts';
import { app, pod, stays } from '../../integration/agent/pod-specs.ts';
import { kubectl } from '../../builders/cluster-under-test.ts';
import { loopBacking } from '../../fakes/csi-backings.ts';
import { CsiDriverUnderTest } from '../../fakes/csi-driver.ts';
import { RegisteringPlugin } from '../../fakes/registering-plugin.ts';
import { attachmentName, uniqueVolumeName } from '../../../src/csi/volume-paths.ts';
import { isJsonObject } from '../../../src/base/json-object.ts';
import { mountsNow } from '../../../src/base/mount-info.ts';
import type { ClusterNode } from './cluster-node.ts';
import { KubeWatch } from './kube-watch.ts';
import { sharedNode } from './shared-node.ts';

const run = promisify(execFile);

/** A driver of this test alone, whose volumes are file systems on loop devices; the test provisions and attaches as controllers do. */
describe('volumes of a CSI driver', { timeout: 400_000 }, () => {
  const shared = sharedNode();
  let node: ClusterNode;
  let driver: CsiDriverUnderTest;
  let plugin: RegisteringPlugin;
  let csiNodes: KubeWatch<Wire<V1CSINode>>;
  let claims: KubeWatch<Wire<V1PersistentVolumeClaim>>;
  let attachments: KubeWatch<Wire<V1VolumeAttachment>>;
  let backing: string;
  let name: string;
  const volumes = new Map<string, string>();

  before(async () => {
    node = await shared.start();
    const told = (): void => node.agent.look();
    csiNodes = new KubeWatch(['csinodes'], told);
    claims = new KubeWatch(['persistentvolumeclaims', '-n', node.namespace], told);
    attachments = new KubeWatch(['volumeattachments'], told);
    name = `csi-${node.name}.example.com`;
    backing = join(node.agent.dir, 'backing');
    driver = await CsiDriverUnderTest.listen(name, {
      backing: loopBacking(backing),
      capabilities: ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME', 'GET_VOLUME_STATS'],
    });
    driver.info.accessibleTopology = { $typeName: 'csi.v1.Topology', segments: { 'topology.csi.example.com/rack': '7' } };
    const spec = { attachRequired: true, podInfoOnMount: true, fsGroupPolicy: 'File', volumeLifecycleModes: ['Persistent', 'Ephemeral'] };
    await node.apply({ apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name }, spec });
    driver.server.calls.subscribe(told);
    plugin = await RegisteringPlugin.listen(join(node.agent.rootDir, 'plugins_registry', 'csi.sock'), {
      type: 'CSIPlugin',
      name,
      endpoint: driver.plugin.endpoint,
      supportedVersions: ['1.0.0'],
    });
    await node.until('the driver is in the CSINode', () => csiNodes.get(node.name)?.spec.drivers.some((each) => each.name === name));
  });
  after(async () => {
    for (const pv of volumes.keys()) await kubectl('delete', 'pv', pv, '--wait=false', '--ignore-not-found');
    for (const handle of volumes.values())
      await kubectl('delete', 'volumeattachment', attachmentName(handle, name, node.name), '--wait=false', '--ignore-not-found');
    await kubectl('delete', 'csidriver', name, '--ignore-not-found');
    await node.agent.kill();
    // Nothing of this where all went well.
    for (const path of mountedHere().toReversed()) await run('umount', [path]);
    await Promise.all([csiNodes.close(), claims.close(), attachments.close()]);
    await shared.stop();
    await plugin[Symbol.asyncDispose]();
    await driver[Symbol.asyncDispose]();
  });

  /** As a provisioner does: a volume that is bound to the claim of its name. */
  async function provision(
    claim: string,
    over: { readonly volumeMode?: string; readonly accessModes?: readonly string[] } = {},
  ): Promise<string> {
    const pv = `${node.name}-${claim}`;
    const handle = `handle-${pv}`;
    volumes.set(pv, handle);
    const { accessModes = ['ReadWriteOnce'], volumeMode = 'Filesystem' } = over;
    await node.apply(
      {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: pv },
        spec: {
          accessModes,
          volumeMode,
          capacity: { storage: '16Mi' },
          claimRef: { namespace: node.namespace, name: claim },
          csi: { driver: name, volumeHandle: handle, ...(volumeMode === 'Filesystem' && { fsType: 'ext4' }) },
          persistentVolumeReclaimPolicy: 'Retain',
          storageClassName: '',
        },
      },
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: claim },
        spec: { accessModes, volumeMode, volumeName: pv, storageClassName: '', resources: { requests: { storage: '16Mi' } } },
      },
    );
    await node.until('the claim is bound', () => claims.get(claim)?.status?.phase === 'Bound');
    return handle;
  }

  /** As the driver's attacher does, once the cluster's controller has asked for it. */
  async function attach(handle: string): Promise<void> {
    const attachment = attachmentName(handle, name, node.name);
    await node.until('the volume is in use', () =>
      node.nodes.get(node.name)?.status?.volumesInUse?.includes(uniqueVolumeName(name, handle)),
    );
    await node.until('the volume is to be attached', () => attachments.get(attachment));
    await kubectl('patch', 'volumeattachment', attachment, '--subresource=status', '--type=merge', '-p', '{"status":{"attached":true}}');
  }

  const using = (claim: string, script: string) =>
    pod([app(script, { volumeMounts: [{ name: 'data', mountPath: '/data' }] })], {
      nodeName: node.name,
      securityContext: { fsGroup: 4321 },
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim } }],
    });
  const mountedHere = (): readonly string[] =>
    mountsNow()
      .map(({ path }) => path)
      .filter((path) => path.startsWith(node.agent.rootDir) && path.includes('csi'));
  const nothingLeft = (): Promise<unknown> =>
    node.until(
      'nothing of the driver is mounted, and nothing in use',
      () => mountedHere().length === 0 && (node.nodes.get(node.name)?.status?.volumesInUse ?? []).length === 0,
    );

  test('the node has their topology, and their ids', async () => {
    const { metadata } = node.nodes.get(node.name) ?? {};
    assert.equal(metadata?.labels?.['topology.csi.example.com/rack'], '7');
    assert.equal(metadata?.annotations?.['csi.volume.kubernetes.io/nodeid'], JSON.stringify({ [name]: 'id-of-n1' }));
    assert.deepEqual(plugin.told, ['registered']);
  });

  /** A file of a pod's volume, as the node has it. */
  const onNode = (pod: string, volume: string, file: string): string =>
    join(node.agent.rootDir, 'pods', node.pod(pod)?.metadata?.uid ?? '', 'volumes/kubernetes.io~csi', volume, 'mount', file);
  const reads = (pod: string, volume: string, file: string, text: string): Promise<unknown> =>
    node.until(`${file} says ${text}`, async () => (await readFile(onNode(pod, volume, file), 'utf8').catch(() => '')) === `${text}\n`);
  const remove = async (pod: string): Promise<void> => {
    await node.kubectl('delete', 'pod', node.called(pod), '--wait=false');
    await node.gone(pod);
    await nothingLeft();
  };

  test('a claim is had once it is attached, keeps what is written over pods, a kill of the agent and a growth, and is in use no longer than that', async () => {
    const handle = await provision('data');
    const pv = `${node.name}-data`;
    await node.create('writer', using('data', `stat -c %g /data > /data/group; echo written > /data/file; ${stays}`));
    await attach(handle);
    await node.up('writer');
    await reads('writer', pv, 'group', '4321');
    await reads('writer', pv, 'file', 'written');
    const calls = driver.called.length;
    await node.agent.kill('SIGKILL');
    node.run();
    await node.ready(Date.now());
    await node.until('the driver has registered again', () => plugin.told.length === 2);
    await node.up('writer');
    // What is there is kept, and nobody is asked.
    assert.deepEqual(
      driver.called.slice(calls).filter((method) => method !== 'NodeGetVolumeStats'),
      [],
    );
    await remove('writer');
    // As a resizer leaves it.
    await kubectl('patch', 'pv', pv, '--type=merge', '-p', '{"spec":{"capacity":{"storage":"32Mi"}}}');
    await node.create('reader', using('data', `cat /data/file > /data/seen; ${stays}`));
    await attach(handle);
    await node.up('reader');
    await reads('reader', pv, 'seen', 'written');
    assert.deepEqual(
      driver.requests('NodeExpandVolume').map(({ volumePath }) => volumePath),
      [onNode('reader', pv, '.')],
    );
    assert.equal(await node.kubectl('get', 'pvc', 'data', '-o', 'jsonpath={.status.capacity.storage}'), '32Mi');
    await remove('reader');
    assert.deepEqual(await readdir(join(node.agent.rootDir, 'plugins/kubernetes.io/csi', name)), []);
  });

  test('a block device is one in the container, and is gone with it', async () => {
    const handle = await provision('raw', { volumeMode: 'Block' });
    const script = 'test -b /dev/xvda && echo raw > /dev/xvda && test "$(head -c 3 /dev/xvda)" = raw';
    await node.create(
      'raw',
      pod([app(script, { volumeDevices: [{ name: 'data', devicePath: '/dev/xvda' }] })], {
        nodeName: node.name,
        restartPolicy: 'Never',
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'raw' } }],
      }),
    );
    await attach(handle);
    await node.phase('raw', 'Succeeded');
    await remove('raw');
  });

  test("a pod's own volume, and a part of it by subPath; a driver that fails keeps the pod until it has taken it back", async () => {
    const mounts = [
      { name: 'own', mountPath: '/own' },
      { name: 'own', mountPath: '/part', subPath: 'part' },
    ];
    const spec = pod([app(`echo x > /part/file; cat /own/part/file > /own/whole; ${stays}`, { volumeMounts: mounts })], {
      nodeName: node.name,
      volumes: [{ name: 'own', csi: { driver: name, fsType: 'ext4', volumeAttributes: { a: 'b' } } }],
    });
    await node.create('own', spec);
    await node.up('own');
    await reads('own', 'own', 'whole', 'x');
    const [request] = driver.requests('NodePublishVolume').slice(-1);
    const context = request?.['volumeContext'];
    assert.ok(isJsonObject(context));
    assert.equal(context['csi.storage.k8s.io/pod.name'], node.called('own'));
    driver.fault('NodeUnpublishVolume', { is: 'error', code: 'Internal', words: 'not now' }, { is: 'die', done: true });
    await remove('own');
    assert.equal(
      driver
        .requests('NodeUnpublishVolume')
        .slice(-3)
        .filter(({ volumeId }) => volumeId === request?.['volumeId']).length,
      3,
    );
  });
});
