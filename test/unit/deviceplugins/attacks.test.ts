// What a plugin may do to the agent, its pods and other plugins: nothing but to lose its own devices.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { stateFiles } from '../../../src/agent/state-files.ts';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { DevicePlugins } from '../../../src/deviceplugins/device-plugins.ts';
import { openDevicePlugins, type OpenDevicePlugins } from '../../../src/deviceplugins/open-device-plugins.ts';
import type { Pod, PodUid } from '../../../src/model/pod.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { someOptions } from '../../builders/some-options.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { FakeDevicePlugin, healthy } from '../../fakes/device-plugin.ts';
import { silentHappenings } from '../../fakes/silent-happenings.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const never = new AbortController().signal;
const GPU = 'example.com/gpu';

let rootDir: string;
let log: RecordingLogger;
let agent: OpenDevicePlugins;
let changed: (() => void)[];
const ends: (() => unknown)[] = [];
beforeEach(async () => {
  rootDir = mkdtempSync(join(tmpdir(), 'rxlet-dpa-'));
  log = new RecordingLogger();
  changed = [];
  await open();
});
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  rmSync(rootDir, { recursive: true });
});

async function open(clock: Clock = systemClock): Promise<void> {
  const { mkdirSync } = await import('node:fs');
  const makeDirectory = async (): Promise<void> => void mkdirSync(join(rootDir, 'device-plugins'), { recursive: true });
  await makeDirectory();
  agent = openDevicePlugins({
    options: someOptions({ rootDir }),
    files: stateFiles(rootDir, { log }),
    clock,
    random: () => 0.5,
    log,
    folded: log,
    tell: silentHappenings,
    wake: () => {},
    pods: { get: () => undefined } as never,
    lives: { isHeld: () => false, wasFound: () => false },
    onChange: () => {
      for (const each of changed) each();
    },
    makeDirectory,
  });
  const server = agent.server();
  await server.listen(join(rootDir, 'device-plugins/kubelet.sock'), 0o600);
  const opened = agent;
  ends.push(async () => {
    await opened.close();
    await server.close();
  });
}

const until = (done: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (!done()) return;
      changed = changed.filter((each) => each !== look);
      resolve();
    };
    changed.push(look);
    look();
  });
const said = (start: string): number => log.lines.filter(({ message }) => message.startsWith(start)).length;

async function plugged(...[rest]: readonly [ConstructorParameters<typeof FakeDevicePlugin>[1]]): Promise<FakeDevicePlugin> {
  const plugin = new FakeDevicePlugin(rootDir, rest);
  ends.push(() => plugin.stop());
  await plugin.start();
  return plugin;
}

const gpuPod = (name: string, resource = GPU): Pod =>
  aPod(name, { containers: [aContainer('app', { resources: { limits: { [resource]: '1' } } })] }, { uid: name as PodUid });

/** A plugin that speaks HTTP/2 as the test says. */
async function rawPlugin(name: string, onSession: (session: ServerHttp2Session) => void): Promise<Http2Server> {
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => {});
    onSession(session);
  });
  server.on('sessionError', () => {});
  await new Promise<void>((listening) => server.listen(join(rootDir, 'device-plugins', name), listening));
  ends.push(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return server;
}

test('one that registers twice is the newer one from then on', async () => {
  const first = await plugged({ devices: healthy('a') });
  await until(() => agent.resources()[GPU] === '1');
  const second = new FakeDevicePlugin(join(rootDir), { devices: healthy('b', 'c') });
  ends.push(() => second.stop());
  await second.start();
  await until(() => agent.resources()[GPU] === '2');
  first.list(healthy('x'));
  assert.deepEqual([await agent.manager.admit(gpuPod('p'), never), second.asked], [undefined, ['allocate b']]);
  assert.equal(said('device plugin is gone'), 0);
});

test('one that floods its list of devices is read at 10 lists a second, and others are as they were', async () => {
  const other = await plugged({ resource: 'example.com/nic', devices: healthy('n') });
  const plugin = await plugged({ devices: healthy('0') });
  let lists = 0;
  changed.push(() => void lists++);
  const startedAtMs = systemClock.monotonicMs();
  let n = 0;
  while (systemClock.monotonicMs() - startedAtMs < 500) {
    plugin.list(healthy(String(++n)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const elapsedMs = systemClock.monotonicMs() - startedAtMs;
  assert.ok(lists <= 20 + 10 + elapsedMs / 100, `${lists} of ${n} lists in ${elapsedMs} ms`);
  assert.equal(await agent.manager.admit(gpuPod('p', other.resource), never), undefined);
});

test('one that lists 300,000 devices, or a million, has sent more than 4 MiB, and has none', async () => {
  const devices = Array.from({ length: 300_000 }, (_, n) => ({ ID: `device-${n}`, health: 'Healthy' }));
  const plugin = await plugged({ devices: healthy('a') });
  await until(() => agent.resources()[GPU] === '1');
  plugin.list(devices);
  await until(() => agent.unusable()[GPU] === '1');
  const line = log.lines.find(({ message }) => message.startsWith('device plugin is gone'));
  assert.match(
    String(line?.fields['why']),
    /ResourceExhausted desc = the server sent a message of \d+ bytes, more than the 4194304 allowed/,
  );
});

test('a hundred thousand devices are listed, given and written down', async () => {
  const devices = Array.from({ length: 100_000 }, (_, n) => ({ ID: `device-${n}`, health: 'Healthy' }));
  await plugged({ devices });
  await until(() => agent.resources()[GPU] === '100000');
  assert.equal(await agent.manager.admit(gpuPod('p'), never), undefined);
});

test('ids that no status can show are left out, which is said once', async () => {
  const plugin = await plugged({ devices: healthy('a', '', 'x\u001B[2J', 'y'.repeat(1 << 20), 'z'.repeat(1024)) });
  await until(() => agent.resources()[GPU] === '2');
  plugin.list(healthy('b', 'c', 'd', '\n'));
  await until(() => agent.resources()[GPU] === '3');
  assert.equal(said('devices left out'), 1);
  assert.ok(!JSON.stringify(log.lines).includes('\\u001B'));
});

test('nonsense about health and NUMA nodes makes a device that is not healthy and is anywhere', async () => {
  const topology = { nodes: [{ ID: -1n }, { ID: 64n }, { ID: 2n ** 62n }, { ID: 3n }, { ID: 3n }] };
  await plugged({
    devices: [
      { ID: 'a', health: '' },
      { ID: 'b', health: 'healthy' },
      { ID: 'c', health: 'Healthy', topology },
    ],
  });
  await until(() => agent.resources()[GPU] === '3');
  assert.deepEqual([agent.unusable()[GPU], agent.allocatableDevices()], ['2', [{ resource: GPU, id: 'c', nodes: [3] }]]);
});

test("one that hangs in Allocate costs its pod 8 s, and no other plugin's pod anything", async () => {
  const clock = new FakeClock();
  rmSync(rootDir, { recursive: true });
  await open(clock);
  const other = await plugged({ resource: 'example.com/nic', devices: healthy('n') });
  await plugged({ devices: healthy('a'), allocate: () => new Promise(() => {}) });
  await until(() => agent.resources()[GPU] === '1' && agent.resources()[other.resource] === '1');
  const hanging = agent.manager.admit(gpuPod('p'), never);
  assert.equal(await agent.manager.admit(gpuPod('q', other.resource), never), undefined);
  assert.match(String((await clock.until(hanging, 500))?.message), /rpc error: code = DeadlineExceeded desc = no answer within 8 s/);
  assert.ok(clock.monotonicMs() >= 8000 && clock.monotonicMs() < 10_000);
});

test('one whose pod is given up on in Allocate gives it nothing later', async () => {
  const answer = Promise.withResolvers<object>();
  const plugin = await plugged({ devices: healthy('a'), allocate: () => answer.promise });
  await until(() => agent.resources()[GPU] === '1');
  const giveUp = new AbortController();
  const asked = new Promise((resolve) => plugin.calls.subscribe(resolve));
  const admission = agent.manager.admit(gpuPod('p'), giveUp.signal);
  await asked;
  giveUp.abort(new Error('took too long'));
  await assert.rejects(admission, /took too long/);
  answer.resolve({});
  assert.equal(await agent.manager.admit(gpuPod('q'), never), undefined);
  assert.equal(agent.devices('p' as PodUid, 'app').length, 0);
});

test('one that dies in the middle of Allocate refuses that pod', async () => {
  const plugin: FakeDevicePlugin = await plugged({
    devices: healthy('a'),
    allocate: () => {
      void plugin.stop();
      return new Promise(() => {});
    },
  });
  await until(() => agent.resources()[GPU] === '1');
  assert.match(
    String((await agent.manager.admit(gpuPod('p'), never))?.message),
    /Allocate failed due to rpc error: code = (Unavailable|Canceled)/,
  );
  await until(() => agent.unusable()[GPU] === '1');
  assert.equal(said('device plugin is gone'), 1);
});

test('one that answers its options with nonsense, or not at all, is not taken, and is told so', async () => {
  const garbage = await rawPlugin('garbage.sock', () => {});
  garbage.on('stream', (stream) => {
    stream.on('error', () => {});
    stream.respond({ ':status': 200, 'content-type': 'text/html' });
    stream.end('<html>');
  });
  const knocking = new FakeDevicePlugin(rootDir, {});
  await assert.rejects(knocking.register({ endpoint: 'garbage.sock' }), /failed to get device plugin options: rpc error: code = Unknown/);
  await rawPlugin('closing.sock', (session) => session.destroy());
  const plugins = new DevicePlugins({
    clock: systemClock,
    random: () => 0.5,
    log,
    onConnected: assert.fail,
    onList: assert.fail,
    onGone: assert.fail,
  });
  const giveUp = new AbortController();
  const registering = plugins.register(GPU, join(rootDir, 'device-plugins/closing.sock'), giveUp.signal);
  giveUp.abort(new Error('the plugin has gone'));
  await assert.rejects(registering, /the plugin has gone/);
});

test('no more than 512 resources have plugins; one that is known may always come again', async () => {
  const { socketPath } = await plugged({ devices: healthy('a') });
  const nothing = (): void => {};
  const plugins = new DevicePlugins({ clock: systemClock, random: () => 0.5, log, onConnected: nothing, onList: nothing, onGone: nothing });
  ends.push(() => plugins.close());
  const register = (n: number): Promise<string> => plugins.register(`example.com/r${n}`, socketPath, never).then(() => 'taken', String);
  for (let n = 0; n < 512; n += 16)
    assert.deepEqual(new Set(await Promise.all(Array.from({ length: 16 }, (_, i) => register(n + i)))), new Set(['taken']));
  assert.match(await register(512), /ResourceExhausted desc = 512 resources have had a device plugin since the agent began/);
  assert.equal(await register(7), 'taken');
});

test('no more than 32 registrations are waited for, each for 10 s', async () => {
  const clock = new FakeClock();
  const plugins = new DevicePlugins({ clock, random: () => 0.5, log, onConnected: assert.fail, onList: assert.fail, onGone: assert.fail });
  const waits = Array.from({ length: 40 }, (_, n) => plugins.register(`example.com/r${n}`, join(rootDir, 'nobody.sock'), never));
  const answers = await clock.until(Promise.allSettled(waits), 100);
  const reasons = answers.map((answer) => (answer.status === 'rejected' ? String(answer.reason) : ''));
  assert.match(reasons[0] ?? '', /failed to dial device plugin: rpc error: code = Unavailable desc = connect ENOENT/);
  assert.equal(reasons.filter((each) => each.includes('ResourceExhausted desc = 32 device plugins are being connected to')).length, 8);
  assert.ok(clock.monotonicMs() <= 11_000);
});

test('registrations of one plugin again and again leave one connection', async () => {
  const plugin = await plugged({ devices: healthy('a') });
  for (let n = 0; n < 10; n++) await Promise.all(Array.from({ length: 10 }, () => plugin.register().catch(() => {})));
  await plugin.register();
  assert.equal(await agent.manager.admit(gpuPod('p'), never), undefined);
  assert.ok(existsSync(plugin.socketPath));
});

test('no container has a device before it is written down who has it', async () => {
  await plugged({ devices: healthy('a') });
  await until(() => agent.resources()[GPU] === '1');
  const checkpoint = join(rootDir, 'device-plugins/kubelet_internal_checkpoint');
  const inTheWay = `${checkpoint}.part`;
  mkdirSync(inTheWay);
  const pod = gpuPod('p');
  const [container = aContainer('app')] = pod.spec.containers;
  const additions = (): Promise<unknown> => agent.manager.additions(pod, container, new Map(), never);
  await assert.rejects(additions());
  await assert.rejects(additions(), 'it has the device by now, and nobody would know after a restart');
  rmSync(inTheWay, { recursive: true });
  await additions();
  assert.match(readFileSync(checkpoint, 'utf8'), /"PodUID":"p"/);
});
