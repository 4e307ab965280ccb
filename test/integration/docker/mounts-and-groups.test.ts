import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readlink, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { exportImage } from '../../../src/engines/docker/images/export-image.ts';
import { engineFeatures } from '../../../src/engines/docker/observe/engine-features.ts';
import type { PodSpec } from '../../../src/model/pod.ts';
import type { ContainerSpec, Mount } from '../../../src/ports/container-runtime.ts';
import { systemMounts } from '../../../src/volumes/mounts.ts';
import { DockerPods } from '../../builders/docker-pods.ts';
import { dockerUnderTest, testImage } from '../../builders/docker-under-test.ts';

describe('what a container may write and who it is', () => {
  let pods: DockerPods;
  beforeEach(async () => {
    pods = new DockerPods(await dockerUnderTest());
  });
  afterEach(() => pods.clean());

  /** How a container that runs `script` ends, in words. */
  const endOf = async (script: string, over: Partial<ContainerSpec>, spec: Partial<PodSpec> = {}): Promise<string> => {
    const container = pods.container('app', {
      command: ['sh', '-c', `{ ${script}; } >/dev/termination-log 2>&1`],
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    });
    const pod = pods.pod([container], spec);
    const id = await pods.start(pod, await pods.runSandbox(pod), container, over);
    await pods.docker.client.call('wait', 60_000, pods.signal, (docker) => docker.getContainer(id).wait());
    const { containers } = await pods.docker.runtime.observePod(pod.metadata.uid, pods.signal);
    assert.equal(containers.length, 1);
    const state = containers.find((one) => one.id === id)?.state;
    assert.ok(state?.phase === 'exited', JSON.stringify(state));
    return state.message.trim();
  };

  test('a read-only mount leaves alone what is mounted below it, unless it is recursive and the engine can', async (t) => {
    const base = await realpath(await mkdtemp(join(tmpdir(), 'rxlet-mounts-')));
    const root = join(base, 'm');
    const mounts = systemMounts({ clock: systemClock });
    t.after(async () => {
      await mounts.unmountBelow(base);
      await rm(base, { recursive: true });
    });
    await mkdir(root);
    await mounts.share(root);
    await mkdir(join(root, 'below'));
    await mounts.tmpfs(join(root, 'below'), { sizeBytes: undefined, fsGroup: undefined });
    const shows = (mount: Partial<Mount>): Promise<string> =>
      endOf('touch /m/x && echo written; touch /m/below/x && echo written below', {
        mounts: [{ hostPath: root, containerPath: '/m', readOnly: true, ...mount }],
      });
    const plain = await shows({});
    assert.match(plain, /^touch: \/m\/x: Read-only file system\nwritten below$/);
    assert.match(await shows({ propagation: 'hostToContainer' }), /written below$/);
    const features = await engineFeatures(pods.docker.client, pods.signal);
    if (features.handlers[0]?.recursiveReadOnly)
      assert.match(await shows({ recursiveReadOnly: true }), /\/m\/below\/x: Read-only file system$/);
    else await assert.rejects(shows({ recursiveReadOnly: true }), { reason: 'CreateContainerError' });
  });

  test('an image is mounted read-only, whole or a part of it, where the engine can', async () => {
    const { Id } = await pods.docker.client.call('inspect', 60_000, pods.signal, (docker) => docker.getImage(testImage).inspect());
    const shows = (script: string, subPath?: string): Promise<string> =>
      endOf(script, { imageMounts: [{ imageRef: Id, containerPath: '/image', ...(subPath && { subPath }) }] });
    const whole = (): Promise<string> => shows('ls /image/etc/passwd; touch /image/x');
    if ((await engineFeatures(pods.docker.client, pods.signal)).imageVolumes !== 'never') {
      assert.equal(await whole(), '/image/etc/passwd\ntouch: /image/x: Read-only file system');
      assert.equal(await shows('ls /image/passwd; touch /image/x', 'etc'), '/image/passwd\ntouch: /image/x: Read-only file system');
      await assert.rejects(shows('true', 'nowhere'), { reason: /^(Create|Run)ContainerError$/ });
    } else await assert.rejects(whole(), { reason: 'CreateContainerError' });
  });

  test('an image is exported as it is, within its limit, and nothing but its files is left', async (t) => {
    const base = await mkdtemp(join(tmpdir(), 'rxlet-export-'));
    t.after(() => rm(base, { recursive: true }));
    const image = await imageWith(
      'echo hi >/hi; chown 1000:2000 /hi; chmod 4751 /hi; ln -s / /out; ln /hi /again; head -c 2000000 /dev/zero >/big',
    );
    const to = async (name: string, maxBytes: number): Promise<string> => {
      await mkdir(join(base, name));
      await exportImage(pods.docker.client, image, join(base, name), maxBytes, pods.signal);
      return join(base, name);
    };
    const whole = await to('whole', 100_000_000);
    const { uid, gid, mode, ino } = await stat(join(whole, 'hi'));
    assert.deepEqual([uid, gid, mode & 0o7777, (await stat(join(whole, 'again'))).ino], [1000, 2000, 0o4751, ino]);
    assert.deepEqual([await readlink(join(whole, 'out')), (await stat(join(whole, 'big'))).size], ['/', 2_000_000]);
    const shown = await endOf('cat /image/hi; touch /image/x', { mounts: [{ hostPath: whole, containerPath: '/image', readOnly: true }] });
    assert.equal(shown, 'hi\ntouch: /image/x: Read-only file system');
    await assert.rejects(to('part', 1_000_000), /^Error: image sha256:[0-9a-f]+ has more than the 1000000 bytes that there is room for$/);
    const left = await pods.docker.client.call('list', 60_000, pods.signal, (docker) =>
      docker.listContainers({ all: true, filters: { ancestor: [image] } }),
    );
    assert.deepEqual(left, []);
  });

  test('a container has the groups that its image has its user in, unless its pod says Strict', async () => {
    const image = await imageWith('echo "member:x:1000:2000::/:/bin/sh" >>/etc/passwd; echo "more:x:3000:member,root" >>/etc/group');
    const groups = (securityContext: NonNullable<PodSpec['securityContext']>): Promise<string> =>
      endOf('id -G', { imageRef: image }, { securityContext });
    const strict = { supplementalGroupsPolicy: 'Strict' };
    for (const [expected, context] of [
      ['0 3000', {}],
      ['0', strict],
      ['2000 3000', { runAsUser: 1000 }],
      ['2000', { runAsUser: 1000, ...strict }],
      ['2000 4000 5000', { runAsUser: 1000, fsGroup: 4000, supplementalGroups: [5000], ...strict }],
      ['6000', { runAsUser: 1000, runAsGroup: 6000, ...strict }],
      ['0', { runAsUser: 1234, ...strict }],
    ] as const)
      assert.equal(await groups(context), expected, JSON.stringify(context));
    // To where no header of an archive has room for it.
    const elsewhere = `/opt/${'x'.repeat(200)}`;
    const linked = await imageWith(
      `mkdir -p ${elsewhere}; sed s/root:x:0:0/root:x:0:7/ /etc/passwd >${elsewhere}/p; ln -sf ${elsewhere}/p /etc/passwd`,
    );
    assert.equal(await endOf('id -G', { imageRef: linked }, { securityContext: { runAsUser: 0, ...strict } }), '7');
  });

  /** The test image after `script`, until the test is over. */
  const imageWith = async (script: string): Promise<string> => {
    const { client } = pods.docker;
    const call = <T>(what: string, request: Parameters<typeof client.call<T>>[3]): Promise<T> =>
      client.call(what, 60_000, pods.signal, request);
    const { id } = await call('create', (docker) => docker.createContainer({ Image: testImage, Cmd: ['sh', '-c', script] }));
    await call('start', (docker) => docker.getContainer(id).start());
    await call('wait', (docker) => docker.getContainer(id).wait());
    const { Id } = await call<{ readonly Id: string }>('commit', (docker) => docker.getContainer(id).commit());
    await call('remove', (docker) => docker.getContainer(id).remove());
    return Id;
  };
});
