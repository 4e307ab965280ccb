import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { Subject } from 'rxjs';
import { stateFiles } from '../../../src/agent/state-files.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { capability } from '../../../src/deviceplugins/capability.ts';
import { NodeUse } from '../../../src/model/node-use.ts';
import type { Container, Pod, PodUid } from '../../../src/model/pod.ts';
import type { Contribution } from '../../../src/ports/contribution.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { someOptions } from '../../builders/some-options.ts';
import { nothingGiven } from '../../builders/node-parts.ts';
import { FakeDevicePlugin, healthy, type PluginAnswers } from '../../fakes/device-plugin.ts';
import { silentHappenings } from '../../fakes/silent-happenings.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const never = new AbortController().signal;
const GPU = 'example.com/gpu';
const none = new NodeUse();

let rootDir: string;
let log: RecordingLogger;
const ends: (() => unknown)[] = [];
beforeEach(() => {
  rootDir = mkdtempSync(join(tmpdir(), 'rxlet-dp-'));
  log = new RecordingLogger();
});
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  rmSync(rootDir, { recursive: true });
});

interface Scene extends Contribution {
  readonly woken: PodUid[];
  readonly changes: Subject<void>;
  /** Pods that the engine has, and those that are declared. */
  readonly found: Set<PodUid>;
  readonly declared: Set<PodUid>;
  stop(): Promise<void>;
  resources(): readonly [capacity: string | undefined, unusable: string | undefined];
  admit(pod: Pod): Promise<string | undefined>;
  env(pod: Pod, container: Container): Promise<string | undefined>;
  until(done: () => boolean): Promise<void>;
}

async function started({ clock = systemClock, declared = [] as readonly Pod[], found = [] as readonly Pod[] } = {}): Promise<Scene> {
  const woken: PodUid[] = [];
  const uids = (pods: readonly Pod[]): Set<PodUid> => new Set(pods.map(({ metadata: { uid } }) => uid));
  const sets = { declared: uids(declared), found: uids(found) };
  const pods = {
    get: (uid: PodUid) => (sets.declared.has(uid) ? { pod: aPod('p', {}, { uid }), source: 'file' as const } : undefined),
    list: () => [],
    named: () => [],
    staticNamesakeOf: () => undefined,
    synced: true,
    syncedOnce: Promise.resolve(),
  };
  const given = await capability({
    options: someOptions({ rootDir }),
    files: stateFiles(rootDir, { log }),
    clock,
    random: () => 0.5,
    log,
    folded: log,
    tell: silentHappenings,
    wake: (uid) => void woken.push(uid),
    pods,
    lives: { isHeld: () => false, wasFound: (uid) => sets.found.has(uid) },
  });
  const end = new AbortController();
  const running = (given.services ?? []).map((service) => service.run(end.signal, nothingGiven));
  for (const service of given.services ?? []) await service.ready?.(end.signal);
  const stop = async (): Promise<void> => {
    end.abort();
    await Promise.all(running);
  };
  ends.push(stop);
  const changes = new Subject<void>();
  given.node?.changes?.subscribe(() => changes.next());
  return {
    ...given,
    ...sets,
    woken,
    changes,
    stop,
    resources: () => [given.node?.resources?.()[GPU], given.node?.unusable?.()[GPU]],
    admit: async (pod) => {
      const refusal = await given.pod?.admit?.(pod, none, never);
      return refusal && `${refusal.reason}: ${refusal.message}`;
    },
    env: async (pod, container) => {
      const making = { env: new Map<string, string>(), podIps: async () => [] };
      return (await given.pod?.container?.(pod, container, making, never))?.env?.find(({ name }) => name === 'DEVICES')?.value;
    },
    until: (done) =>
      new Promise((resolve) => {
        if (done()) return resolve();
        const heard = changes.subscribe(() => {
          if (!done()) return;
          heard.unsubscribe();
          resolve();
        });
      }),
  };
}

async function plugged(
  scene: Scene,
  answers: PluginAnswers & { devices?: ReturnType<typeof healthy>; resource?: string },
): Promise<FakeDevicePlugin> {
  const plugin = new FakeDevicePlugin(rootDir, answers);
  ends.push(() => plugin.stop());
  await plugin.start();
  const { resource = GPU, devices = [] } = answers;
  await scene.until(() => scene.node?.resources?.()[resource] === String(devices.length));
  return plugin;
}

const asking = (count: number, name = 'app', resource = GPU): Container =>
  aContainer(name, { resources: { limits: { [resource]: String(count) }, requests: { [resource]: String(count) } } });

function gpuPod(name: string, ...containers: readonly Container[]): Pod {
  return aPod(name, { containers: containers.length > 0 ? containers : [asking(1)] }, { uid: name as PodUid });
}
const unexpected = (why: string): string => `UnexpectedAdmissionError: Allocate failed due to ${why}, which is unexpected`;

describe('without a plugin', () => {
  test('there is a socket of its owner and his group, and nothing else', async () => {
    const scene = await started();
    const { node, pod } = scene;
    const socket = lstatSync(join(rootDir, 'device-plugins/kubelet.sock'));
    assert.deepEqual([socket.isSocket(), socket.mode & 0o777], [true, 0o660]);
    assert.equal(lstatSync(join(rootDir, 'device-plugins')).mode & 0o777, 0o750);
    assert.deepEqual([node?.resources?.(), await pod?.admit?.(gpuPod('a'), none, never)], [{}, undefined]);
    await scene.stop();
    assert.equal(existsSync(join(rootDir, 'device-plugins/kubelet.sock')), false);
  });
});

describe('a plugin that registers', () => {
  test('has its devices counted, those that are not healthy into capacity alone', async () => {
    const scene = await started();
    await plugged(scene, { devices: [...healthy('a', 'b'), { ID: 'c', health: 'Unhealthy' }] });
    assert.deepEqual(scene.resources(), ['3', '1']);
  });

  for (const [what, over, expected] of [
    [
      'of another version',
      { version: 'v1alpha' },
      'requested API version "v1alpha" is not supported by kubelet. Supported version is ["v1beta1"]',
    ],
    ['for a resource of Kubernetes', { resourceName: 'cpu' }, 'the ResourceName "cpu" is invalid'],
    ['for no resource', { resourceName: '' }, 'the ResourceName "" is invalid'],
    ['with a path', { endpoint: '../other.sock' }, 'the endpoint "../other.sock" is invalid'],
    ['with no endpoint', { endpoint: '' }, 'the endpoint "" is invalid'],
    ['with control characters', { endpoint: 'a\u001B[2J' }, 'the endpoint "a?[2J" is invalid'],
    ['with a name of a megabyte', { endpoint: 'x'.repeat(1 << 20) }, 'is invalid: it has to be the name'],
  ] as const)
    test(`${what} is told why it is not taken`, async () => {
      await started();
      const plugin = await new FakeDevicePlugin(rootDir, {}).start({ register: false });
      ends.push(() => plugin.stop());
      await assert.rejects(
        plugin.register(over),
        (error: Error) => error.message.includes(`code = Unknown desc = ${expected}`) || error.message.includes(expected),
      );
    });

  test('by plugins_registry is taken as well, and its devices are not healthy once its socket is gone', async () => {
    const scene = await started();
    const plugin = await new FakeDevicePlugin(rootDir, { devices: healthy('a') }).start({ register: false });
    ends.push(() => plugin.stop());
    const [handler] = scene.plugins ?? [];
    assert.equal(handler?.type, 'DevicePlugin');
    const named = { name: GPU, endpoint: plugin.socketPath, versions: ['v1beta1'] };
    await assert.rejects(
      async () => handler?.register({ ...named, versions: ['v2'] }, never),
      /manager version, v1beta1, is not among plugin supported versions \[v2\]/,
    );
    await handler?.register(named, never);
    await scene.until(() => scene.resources()[0] === '1');
    await handler?.deregister(named, never);
    await scene.until(() => scene.resources()[1] === '1');
  });

  test('is followed through a link', async () => {
    const scene = await started();
    mkdirSync(join(rootDir, 'elsewhere/device-plugins'), { recursive: true });
    const plugin = await new FakeDevicePlugin(join(rootDir, 'elsewhere'), { devices: healthy('a') }).start({ register: false });
    ends.push(() => plugin.stop());
    symlinkSync(plugin.socketPath, join(rootDir, 'device-plugins/link.sock'));
    await new FakeDevicePlugin(rootDir, {}).register({ endpoint: 'link.sock' });
    await scene.until(() => scene.resources()[0] === '1');
  });
});

describe('a pod', () => {
  test('has devices for itself, which are free again once it is gone', async () => {
    const scene = await started();
    const plugin = await plugged(scene, { devices: healthy('a', 'b') });
    const [one, two, three] = [gpuPod('one'), gpuPod('two'), gpuPod('three')];
    assert.deepEqual([await scene.admit(one), await scene.admit(two)], [undefined, undefined]);
    assert.equal(await scene.admit(three), unexpected(`requested number of devices unavailable for ${GPU}. Requested: 1, Available: 0`));
    assert.deepEqual((await scene.pod?.wouldAdmit?.(three, none, never))?.reason, 'UnexpectedAdmissionError');
    assert.deepEqual(plugin.asked, ['allocate a', 'allocate b']);
    assert.deepEqual([await scene.env(one, asking(1)), await scene.env(two, asking(1))], ['a', 'b']);
    await scene.pod?.release?.(one.metadata.uid, never);
    assert.equal(await scene.admit(three), undefined);
    assert.equal(await scene.env(three, asking(1)), 'a');
    assert.deepEqual(scene.assigned?.devices?.('three' as PodUid, 'app'), [{ resource: GPU, id: 'a', nodes: [] }]);
  });

  test('races another one for the last device: one gets it', async () => {
    const scene = await started();
    await plugged(scene, { devices: healthy('a'), allocate: async () => new Promise((resolve) => setImmediate(() => resolve({}))) });
    const answers = await Promise.all(['x', 'y', 'z'].map((name) => scene.admit(gpuPod(name))));
    assert.equal(answers.filter((answer) => answer === undefined).length, 1);
  });

  test('reuses devices of its init containers, but not those of its sidecars', async () => {
    const scene = await started();
    const plugin = await plugged(scene, { devices: healthy('a', 'b', 'c') });
    const pod = aPod(
      'p',
      {
        initContainers: [asking(2, 'init'), { ...asking(1, 'side'), restartPolicy: 'Always' }],
        containers: [asking(1), asking(1, 'more')],
      },
      { uid: 'p' as PodUid },
    );
    assert.equal(await scene.admit(pod), undefined);
    assert.deepEqual(plugin.asked, ['allocate a b', 'allocate a', 'allocate b', 'allocate c']);
  });

  test('has what its plugin prefers, as far as that was offered and is free', async () => {
    const scene = await started();
    const prefer = (): readonly string[] => ['unheard', 'c', 'a'];
    const plugin = await plugged(scene, { options: { getPreferredAllocationAvailable: true }, prefer, devices: healthy('a', 'b', 'c') });
    assert.equal(await scene.admit(gpuPod('p', asking(2))), undefined);
    assert.deepEqual(plugin.asked, ['prefer a b c', 'allocate c a']);
  });

  test('is refused with what its plugin says', async () => {
    const scene = await started();
    const plugin = await plugged(scene, { devices: healthy('a'), allocate: () => Promise.reject(new Error('on fire')) });
    assert.equal(await scene.admit(gpuPod('p')), unexpected('rpc error: code = Unknown desc = on fire'));
    await plugin.stop();
    await scene.until(() => scene.resources()[1] === '1');
    assert.equal(await scene.admit(gpuPod('p')), unexpected(`no healthy devices present; cannot allocate unhealthy devices ${GPU}`));
  });

  for (const [what, response] of [
    ['an environment variable', { envs: { 'A=B': '' } }],
    ['a path', { mounts: [{ hostPath: '/a:/b', containerPath: '/c' }] }],
    ['a path', { devices: [{ hostPath: 'dev/null', containerPath: '/c', permissions: 'r' }] }],
    ['permissions', { devices: [{ hostPath: '/dev/null', containerPath: '/c', permissions: 'rx' }] }],
    ['a CDI device', { cdiDevices: [{ name: 'gpu0' }] }],
    ['more bytes', { envs: { E: 'x'.repeat(256 << 10) } }],
    ['too much', { envs: Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`E${n}`, ''])) }],
  ] as const)
    test(`is refused where its plugin answers with ${what} that no container can have`, async () => {
      const scene = await started();
      await plugged(scene, { devices: healthy('a'), allocate: () => response as never });
      assert.match(String(await scene.admit(gpuPod('p'))), /no container can have what device plugin example.com\/gpu answers/);
      assert.equal(scene.assigned?.devices?.('p' as PodUid, 'app').length, 0);
    });

  test('is refused where its plugin answers with more than is read', async () => {
    const scene = await started();
    await plugged(scene, { devices: healthy('a'), allocate: () => ({ envs: { E: 'x'.repeat(1 << 20) } }) });
    assert.match(String(await scene.admit(gpuPod('p'))), /code = ResourceExhausted/);
  });

  test('gets at its devices as the plugins say; of one place the first counts', async () => {
    const scene = await started();
    const response = (of: string) => ({
      envs: { DEVICES: of, OWN: of, [`ONLY_${of}`]: '1' },
      mounts: [{ hostPath: `/opt/${of}`, containerPath: '/opt/lib', readOnly: true }],
      devices: [{ hostPath: `/dev/${of}`, containerPath: `/dev/${of}`, permissions: 'rw' }],
      annotations: { 'example.com/of': of },
      cdiDevices: [{ name: `example.com/gpu=${of}` }],
    });
    await plugged(scene, { devices: healthy('a'), allocate: () => response('gpu') });
    await plugged(scene, { devices: healthy('a'), resource: 'example.com/nic', allocate: () => response('nic') });
    const container = aContainer('app', { resources: { limits: { [GPU]: '1', 'example.com/nic': '1' } } });
    const pod = gpuPod('p', container);
    assert.equal(await scene.admit(pod), undefined);
    const making = { env: new Map([['OWN', 'mine']]), podIps: async () => [] };
    assert.deepEqual(await scene.pod?.container?.(pod, container, making, never), {
      env: [
        { name: 'DEVICES', value: 'gpu' },
        { name: 'ONLY_gpu', value: '1' },
        { name: 'ONLY_nic', value: '1' },
      ],
      mounts: [{ hostPath: '/opt/gpu', containerPath: '/opt/lib', readOnly: true }],
      devices: ['gpu', 'nic'].map((of) => ({ hostPath: `/dev/${of}`, containerPath: `/dev/${of}`, permissions: 'rw' })),
      annotations: { 'example.com/of': 'gpu' },
      cdiDevices: ['example.com/gpu=gpu', 'example.com/gpu=nic'],
    });
    assert.equal(log.lines.filter(({ message }) => message.includes('ask for different things in one place')).length, 3);
  });

  test('does not start where its plugin does not want it to', async () => {
    const scene = await started();
    let fault: Error | undefined = new Error('still cleaning');
    const plugin = await plugged(scene, {
      options: { preStartRequired: true },
      devices: healthy('a'),
      preStart: () => {
        if (fault) throw fault;
      },
    });
    const pod = gpuPod('p');
    await scene.admit(pod);
    await assert.rejects(
      scene.env(pod, asking(1)),
      /device plugin PreStartContainer rpc failed with err: rpc error: code = Unknown desc = still cleaning/,
    );
    fault = undefined;
    assert.equal(await scene.env(pod, asking(1)), 'a');
    assert.deepEqual(plugin.asked, ['allocate a', 'preStart a', 'preStart a']);
  });

  test('is shown how its devices do, and looked at when that changes', async () => {
    const scene = await started();
    const plugin = await plugged(scene, { devices: healthy('a', 'b') });
    const pod = gpuPod('p');
    await scene.admit(pod);
    const health = (): unknown => scene.pod?.resourceHealth?.(pod.metadata.uid)?.['app']?.[0]?.resources;
    const before = scene.pod?.resourceHealth?.(pod.metadata.uid);
    assert.deepEqual(health(), [{ resourceID: 'a', health: 'Healthy' }]);
    assert.equal(scene.pod?.resourceHealth?.(pod.metadata.uid), before);
    plugin.list([{ ID: 'a', health: 'Unhealthy' }, ...healthy('b')]);
    await scene.until(() => scene.resources()[1] === '1');
    assert.deepEqual([health(), scene.woken], [[{ resourceID: 'a', health: 'Unhealthy' }], ['p']]);
    plugin.list([{ ID: 'a', health: 'Unhealthy' }]);
    await scene.until(() => scene.resources()[0] === '1');
    assert.deepEqual(scene.woken, ['p']);
    await plugin.stop();
    await scene.until(() => log.lines.some(({ message }) => message.startsWith('device plugin is gone')));
    assert.deepEqual([health(), scene.woken], [[{ resourceID: 'a', health: 'Unknown' }], ['p', 'p']]);
  });
});

describe('over a restart', () => {
  test('of the plugin, a pod keeps its device', async () => {
    const scene = await started();
    const plugin = await plugged(scene, { devices: healthy('a', 'b') });
    await scene.admit(gpuPod('p'));
    await plugin.stop();
    await scene.until(() => scene.resources()[1] === '2');
    await plugin.start();
    await scene.until(() => scene.resources()[1] === '0');
    assert.equal(await scene.admit(gpuPod('q')), undefined);
    assert.deepEqual([await scene.env(gpuPod('p'), asking(1)), await scene.env(gpuPod('q'), asking(1))], ['a', 'b']);
  });

  test('of the agent, a pod keeps its device, and the devices of pods that are gone are free', async () => {
    const [kept, gone] = [gpuPod('kept'), gpuPod('gone')];
    const first = await started();
    const plugin = await plugged(first, { devices: healthy('a', 'b') });
    await first.admit(gone);
    await first.admit(kept);
    await first.stop();
    await plugin.stop();
    const second = await started({ found: [kept] });
    assert.deepEqual(second.resources(), ['0', '0']);
    assert.equal(await second.env(kept, asking(1)), 'b');
    assert.equal(await second.admit(gpuPod('new')), unexpected(`no healthy devices present; cannot allocate unhealthy devices ${GPU}`));
    await plugin.start();
    await second.until(() => second.resources()[0] === '2');
    assert.equal(await second.admit(gpuPod('new')), undefined);
    assert.equal(await second.env(gpuPod('new'), asking(1)), 'a');
  });

  test('of the agent, what was listed last is written down before it has stopped', async () => {
    const scene = await started();
    await plugged(scene, { devices: healthy('a', 'b') });
    await scene.stop();
    assert.match(readFileSync(join(rootDir, 'device-plugins/kubelet_internal_checkpoint'), 'utf8'), /\["a","b"\]/);
  });

  test('of the agent, sockets of before are gone, by which plugins see that they have to register', async () => {
    const plugin = new FakeDevicePlugin(rootDir, {});
    mkdirSync(join(rootDir, 'device-plugins'));
    await plugin.start({ register: false });
    ends.push(() => plugin.stop());
    writeFileSync(join(rootDir, 'device-plugins/DEPRECATION'), '');
    await started();
    assert.deepEqual([existsSync(plugin.socketPath), existsSync(join(rootDir, 'device-plugins/DEPRECATION'))], [false, true]);
  });

  test("of an agent beside another one, plugins stay the other one's", async () => {
    const plugin = new FakeDevicePlugin(rootDir, {});
    mkdirSync(join(rootDir, 'device-plugins'));
    await plugin.start({ register: false });
    const other = createServer().listen(join(rootDir, 'device-plugins/kubelet.sock'));
    await once(other, 'listening');
    ends.push(() => plugin.stop());
    ends.push(() => other.close());
    const scene = await started();
    assert.equal(existsSync(plugin.socketPath), true);
    assert.match(String(scene.node?.health?.()[0]?.error), /no device plugins can register/);
  });

  test('what cannot be read is said, set aside, and begun afresh', async () => {
    mkdirSync(join(rootDir, 'device-plugins'));
    const path = join(rootDir, 'device-plugins/kubelet_internal_checkpoint');
    writeFileSync(path, '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{"example.com/gpu":["a"]}},"Checksum":1}');
    const scene = await started();
    assert.match(
      String(log.lines.find(({ message }) => message.startsWith('who has which devices cannot be read'))?.fields['error']),
      /corrupted/,
    );
    assert.equal(existsSync(`${path}.damaged`), true);
    await plugged(scene, { devices: healthy('a') });
    assert.equal(await scene.admit(gpuPod('p')), undefined);
    assert.match(readFileSync(path, 'utf8'), /"PodUID":"p"/);
  });
});
