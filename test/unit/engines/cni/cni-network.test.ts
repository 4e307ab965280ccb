import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { Subject } from 'rxjs';
import { systemClock } from '../../../../src/base/clock.ts';
import { CniNetwork } from '../../../../src/engines/cni/cni-network.ts';
import { cniConfiguration, cniSweep } from '../../../../src/engines/cni/cni-services.ts';
import { pluginRunner } from '../../../../src/engines/cni/exec-plugin.ts';
import { CniPluginError } from '../../../../src/engines/cni/plugin-error.ts';
import type { PodSummary, SandboxId } from '../../../../src/ports/container-runtime.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { nothingGiven } from '../../../builders/node-parts.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { type SeenCniCall, ScriptedCniPlugins } from '../../../fakes/scripted-cni-plugins.ts';

const id = 'abc123' as SandboxId;
const pid = process.pid;
const signal = new AbortController().signal;
const pod = aPod('web', { containers: [aContainer('app', { ports: [{ containerPort: 80, hostPort: 8080, protocol: 'TCP' }] })] });

let directory: string;
let plugins: ScriptedCniPlugins;
let log: RecordingLogger;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'cni-'));
  plugins = new ScriptedCniPlugins(directory);
  log = new RecordingLogger();
  await mkdir(join(directory, 'conf'));
  await plugins.add('loopback');
  await plugins.add('bridge', `[ "$CNI_COMMAND" != ADD ] || { echo '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.2/24"}]}'; exit; }`);
  await plugins.add(
    'portmap',
    `[ "$CNI_COMMAND" != ADD ] || { echo '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.2/24"}],"last":1}'; exit; }`,
  );
});
afterEach(() => rm(directory, { recursive: true }));

const network = (over: { readonly inNamespace?: readonly string[] } = {}): CniNetwork =>
  new CniNetwork({
    confDir: join(directory, 'conf'),
    binDirs: ['/nonexistent', plugins.binDir],
    cacheDir: join(directory, 'cache'),
    ledgerDir: join(directory, 'ledger'),
    clock: systemClock,
    log,
    exec: pluginRunner(systemClock),
    addressesIn: async () => over.inNamespace ?? [],
  });

const writeConf = (file: string, conf: object | string): Promise<void> =>
  writeFile(join(directory, 'conf', file), typeof conf === 'string' ? conf : JSON.stringify(conf));
const pods = {
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [{ type: 'bridge' }, { type: 'portmap', capabilities: { portMappings: true } }],
};
const ready = async (): Promise<CniNetwork> => {
  await writeConf('10-pods.conflist', pods);
  const made = network();
  await made.reload(signal);
  return made;
};
const told = ({ plugin, command }: SeenCniCall): string => `${command} ${plugin}`;
const results = (): Promise<readonly string[]> => readdir(join(directory, 'cache', 'results')).catch(() => []);

describe('connecting a sandbox', () => {
  test('calls loopback and then each plugin with the result of the one before', async () => {
    assert.deepEqual(await (await ready()).setUp(pod, id, pid, signal), ['10.0.0.2']);
    const calls = await plugins.calls();
    assert.deepEqual(calls.map(told), ['ADD loopback', 'ADD bridge', 'ADD portmap']);
    const [loopback, bridge, portmap] = calls;
    assert.deepEqual(loopback?.conf, { cniVersion: '0.2.0', name: 'cni-loopback', type: 'loopback' });
    assert.deepEqual(bridge?.conf, { cniVersion: '1.0.0', name: 'pods', type: 'bridge' });
    assert.equal(bridge?.netns, `/proc/${pid}/ns/net`);
    assert.equal(bridge?.args, `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_INFRA_CONTAINER_ID=${id}`);
    assert.deepEqual(portmap?.conf['prevResult'], { cniVersion: '1.0.0', ips: [{ address: '10.0.0.2/24' }] });
    assert.deepEqual(portmap?.conf['runtimeConfig'], {
      portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp', hostIP: '' }],
    });
  });

  test('keeps the last result where libcni does', async () => {
    await (await ready()).setUp(pod, id, pid, signal);
    assert.deepEqual(await results(), [`cni-loopback-${id}-eth0`, `pods-${id}-eth0`]);
    const cached = JSON.parse(await readFile(join(directory, 'cache/results', `pods-${id}-eth0`), 'utf8')) as Record<string, unknown>;
    assert.deepEqual(Object.keys(cached).sort(), [
      'capabilityArgs',
      'cniArgs',
      'config',
      'containerId',
      'ifName',
      'kind',
      'networkName',
      'result',
    ]);
    assert.deepEqual(JSON.parse(Buffer.from(String(cached['config']), 'base64').toString()), pods);
    assert.deepEqual(cached['result'], { cniVersion: '1.0.0', ips: [{ address: '10.0.0.2/24' }], last: 1 });
  });

  test('fails in the plugin’s own words; what was begun is released', async () => {
    await plugins.add('portmap', `[ "$CNI_COMMAND" != ADD ] || { echo '{"code":11,"msg":"no rules","details":"try later"}'; exit 1; }`);
    const cni = await ready();
    await assert.rejects(cni.setUp(pod, id, pid, signal), (error) => {
      assert.ok(error instanceof Error && error.cause instanceof CniPluginError);
      assert.deepEqual(
        [error.cause.plugin, error.cause.code, error.cause.msg, error.cause.details],
        ['portmap', 11, 'no rules', 'try later'],
      );
      return (
        error.message ===
        'networkPlugin cni failed to set up pod "web_default" network: plugin type="portmap" failed (add): no rules; try later (code 11)'
      );
    });
    assert.deepEqual(await cni.addresses(id, pid, signal), [], 'a sandbox that is not wholly connected has no address');
    await cni.tearDown(id, pod.metadata, pid, signal);
    const calls = await plugins.calls();
    assert.deepEqual(calls.slice(3).map(told), ['DEL loopback', 'DEL portmap', 'DEL bridge']);
    assert.deepEqual([await cni.holders(), await results()], [[], []]);
  });

  for (const [what, script, words] of [
    ['says nothing', 'exit 3', 'netplugin failed with no error message: exit status 3'],
    ['complains elsewhere', 'echo broken >&2; exit 1', 'netplugin failed: "broken\\n"'],
    ['says no JSON', 'echo broken; exit 1', 'netplugin failed but its message cannot be read: "broken\\n"'],
    ['is killed', 'kill -9 $$', 'netplugin failed with no error message: signal: SIGKILL'],
  ] as const) {
    test(`fails when a plugin ${what}`, async () => {
      await plugins.add('bridge', script);
      await assert.rejects((await ready()).setUp(pod, id, pid, signal), {
        message: `networkPlugin cni failed to set up pod "web_default" network: plugin type="bridge" failed (add): ${words}`,
      });
    });
  }

  test('ends a plugin that hangs when it is given up', async () => {
    await plugins.add('bridge', `echo $$ >${directory}/pid; exec sleep 1000`);
    const cni = await ready();
    const giveUp = new AbortController();
    const setUp = cni.setUp(pod, id, pid, giveUp.signal);
    const given = assert.rejects(setUp, /given up/);
    let plugin = '';
    while (plugin === '') {
      await new Promise(setImmediate);
      plugin = (await readFile(join(directory, 'pid'), 'utf8').catch(() => '')).trim();
    }
    giveUp.abort(new Error('given up'));
    await given;
    assert.deepEqual(await cni.holders(), [id]);
  });

  test('without a configuration says that there is none', async () => {
    await assert.rejects(network().setUp(pod, id, pid, signal), {
      message: 'networkPlugin cni failed to set up pod "web_default" network: cni config uninitialized',
    });
  });
});

describe('the addresses of a sandbox', () => {
  test('are those of its result, also for an agent that has just started', async () => {
    await (await ready()).setUp(pod, id, pid, signal);
    assert.deepEqual(await network({ inNamespace: ['10.9.9.9'] }).addresses(id, pid, signal), ['10.0.0.2']);
  });

  test('are those in its namespace where somebody has emptied the cache, and what it has is released all the same', async () => {
    await (await ready()).setUp(pod, id, pid, signal);
    await rm(join(directory, 'cache'), { recursive: true });
    const later = network({ inNamespace: ['10.0.0.2'] });
    await later.reload(signal);
    assert.deepEqual(await later.addresses(id, pid, signal), ['10.0.0.2']);
    await later.tearDown(id, undefined, undefined, signal);
    assert.deepEqual((await plugins.calls()).slice(3).map(told), ['DEL loopback', 'DEL portmap', 'DEL bridge']);
  });

  test('are those in its namespace where no result is known', async () => {
    assert.deepEqual(await network({ inNamespace: ['10.9.9.9'] }).addresses(id, pid, signal), ['10.9.9.9']);
  });

  test('are forgotten at its end, also where it had nothing of the network', async () => {
    const over = { inNamespace: ['10.9.9.9'] };
    const cni = network(over);
    await cni.addresses(id, pid, signal);
    over.inNamespace = ['10.9.9.10'];
    assert.deepEqual(await cni.addresses(id, pid, signal), ['10.9.9.9']);
    await cni.tearDown(id, undefined, undefined, signal);
    assert.deepEqual(await cni.addresses(id, pid, signal), ['10.9.9.10']);
  });
});

describe('giving back what a sandbox has', () => {
  test('calls the plugins in reverse, with what they were called with then and their result, whatever is in force now', async () => {
    await (await ready()).setUp(pod, id, pid, signal);
    await writeConf('05-other.conf', { cniVersion: '0.3.1', name: 'other', type: 'bridge' });
    const later = network();
    await later.reload(signal);
    await later.tearDown(id, undefined, undefined, signal);
    const calls = (await plugins.calls()).slice(3);
    assert.deepEqual(calls.map(told), ['DEL loopback', 'DEL portmap', 'DEL bridge']);
    for (const { netns, args } of calls) {
      assert.equal(netns, '');
      assert.match(args, /;K8S_POD_NAME=web;/);
    }
    assert.equal(calls[1]?.conf['name'], 'pods');
    assert.deepEqual(calls[1]?.conf['prevResult'], { cniVersion: '1.0.0', ips: [{ address: '10.0.0.2/24' }], last: 1 });
    assert.deepEqual(Object.keys(Object(calls[1]?.conf['runtimeConfig'])), ['portMappings']);
    assert.deepEqual([await later.holders(), await results()], [[], []]);
  });

  test('of version 0.3.1 goes without a result', async () => {
    await writeConf('10-pods.conflist', { ...pods, cniVersion: '0.3.1' });
    const cni = network();
    await cni.reload(signal);
    await cni.setUp(pod, id, pid, signal);
    await cni.tearDown(id, pod.metadata, pid, signal);
    assert.ok((await plugins.calls()).slice(3).every(({ conf }) => !('prevResult' in conf)));
  });

  test('that fails is told, is no reason to leave out the other plugins, and works the next time', async () => {
    const cni = await ready();
    await cni.setUp(pod, id, pid, signal);
    await plugins.add('portmap', `echo '{"code":7,"msg":"busy"}'; exit 1`);
    await assert.rejects(cni.tearDown(id, pod.metadata, pid, signal), {
      message: 'networkPlugin cni failed to teardown pod "web_default" network: plugin type="portmap" failed (del): busy (code 7)',
    });
    assert.deepEqual((await plugins.calls()).slice(3).map(told), ['DEL loopback', 'DEL portmap', 'DEL bridge']);
    assert.deepEqual(await cni.holders(), [id]);
    await plugins.add('portmap', `echo '{"code":7,"msg":"open x: no such file or directory"}'; exit 1`);
    await cni.tearDown(id, pod.metadata, pid, signal);
    assert.deepEqual([await cni.holders(), await results()], [[], []]);
  });

  test('of one that has nothing calls nobody', async () => {
    await (await ready()).tearDown(id, pod.metadata, pid, signal);
    assert.deepEqual(await plugins.calls(), []);
  });
});

describe('the configuration', () => {
  test('is the first by name that will do; the others are said once', async () => {
    await writeConf('05-broken.conf', '{');
    await writeConf('06-nobody.conflist', { cniVersion: '1.0.0', name: 'x', plugins: [{ type: 'nobody' }] });
    await writeConf('07-new.conf', { cniVersion: '9.0.0', name: 'x', type: 'bridge' });
    await writeConf('08-ignored.txt', '{');
    await writeConf('20-later.conf', { cniVersion: '1.0.0', name: 'later', type: 'bridge' });
    const cni = await ready();
    assert.equal(cni.fault(), undefined);
    const said = log.lines
      .filter(({ level }) => level === 'warn')
      .map(({ fields }) => `${String(fields['file'])}: ${String(fields['error'])}`);
    assert.match(said[0] ?? '', /^05-broken\.conf: error parsing configuration: /);
    assert.deepEqual(said.slice(1), [
      `06-nobody.conflist: failed to find plugin "nobody" in path [/nonexistent ${plugins.binDir}]`,
      '07-new.conf: plugin bridge does not support config version "9.0.0"',
    ]);
    await cni.reload(signal);
    assert.equal(log.lines.filter(({ level }) => level === 'warn').length, 3);
  });

  test('that was good stays in force when the directory is empty', async () => {
    const cni = await ready();
    await rm(join(directory, 'conf'), { recursive: true });
    await cni.reload(signal);
    assert.equal(cni.fault(), undefined);
  });

  test('that wants what there is not is a fault', async () => {
    await writeConf('10-pods.conf', { cniVersion: '1.0.0', name: 'x', type: 'bridge', capabilities: { ipRanges: true } });
    const cni = network();
    await cni.reload(signal);
    assert.equal(cni.fault(), 'cni config needs ipRanges but no PodCIDR set');
  });

  test('that comes later is found, and told', async () => {
    const cni = network();
    const stop = new AbortController();
    const running = cniConfiguration({ network: cni, clock: systemClock, log }).run(stop.signal, nothingGiven);
    const told = new Promise<void>((resolve) => {
      const subscription = cni.changes.subscribe(() => {
        subscription.unsubscribe();
        resolve();
      });
    });
    assert.equal(cni.fault(), 'cni config uninitialized');
    await writeConf('10-pods.conflist', pods);
    await told;
    assert.equal(cni.fault(), undefined);
    stop.abort();
    await running;
  });

  test('that takes too long to read holds the first pods up for ten seconds, and is read again', async () => {
    const clock = new FakeClock();
    let reads = 0;
    const hanging = {
      fault: () => 'cni config uninitialized',
      reload: (within: AbortSignal) => {
        reads++;
        return new Promise<void>((_, reject) => within.addEventListener('abort', () => reject(within.reason), { once: true }));
      },
    };
    const stop = new AbortController();
    const service = cniConfiguration({ network: hanging, clock, log });
    const running = service.run(stop.signal, nothingGiven);
    let isReady = false;
    const whenReady = service.ready(stop.signal).then(() => (isReady = true));
    await clock.advance(9_999);
    assert.equal(isReady, false);
    await clock.advance(1);
    await whenReady;
    assert.deepEqual(
      log.lines.map(({ message }) => message),
      ['CNI configuration cannot be read'],
    );
    await clock.advance(500);
    assert.equal(reads, 2);
    stop.abort();
    await running;
  });
});

test('what a dead or vanished sandbox holds is released when the engine’s pods are looked through, a living one’s is not', async () => {
  const cni = await ready();
  const alive = 'alive' as SandboxId;
  await cni.setUp(pod, id, pid, signal);
  await cni.setUp(pod, alive, pid, signal);
  const young = 'young' as SandboxId;
  await cni.setUp(pod, young, pid, signal);
  const listing = (...ids: SandboxId[]): readonly PodSummary[] => [
    {
      uid: 'u' as PodUid,
      name: 'web',
      namespace: 'default',
      parts: ids.map((each) => ({ id: each, container: undefined, phase: 'running' })),
    },
  ];
  const relists = new Subject<readonly PodSummary[]>();
  const stop = new AbortController();
  const sweep = cniSweep({ network: cni, clock: systemClock, log, relists, listPods: async () => listing(alive, young) }).run(
    stop.signal,
    nothingGiven,
  );
  // The listing is older than the youngest sandbox.
  relists.next(listing(alive));
  while ((await cni.holders()).includes(id)) await new Promise(setImmediate);
  stop.abort();
  await sweep;
  assert.deepEqual((await cni.holders()).toSorted(), [alive, young]);
});
