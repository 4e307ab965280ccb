import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { logind, type Logind } from '../../src/shutdown/logind.ts';
import { LoginManager, startBus, type Bus } from '../fakes/login-manager.ts';
import { AgentUnderTest } from './agent/agent-under-test.ts';
import { app, pod } from './agent/pod-specs.ts';

/** As systemd's own: the lock is there for as long as the command runs. Who has one is in a file of its process id. */
const INHIBIT = `#!/bin/sh
while [ "\${1#--}" != "$1" ]; do shift; done
touch "$LOCKS/$$"
"$@"
rm "$LOCKS/$$"
`;

describe('the shutdown of the machine, on a real bus', { timeout: 120_000 }, () => {
  let directory = '';
  let bus: Bus;
  let manager: LoginManager;
  let ofMachine: Logind;
  const { PATH = '' } = process.env;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rxlet-bus-'));
    bus = await startBus(directory);
    const [program, locks] = [join(directory, 'systemd-inhibit'), await mkdtemp(join(directory, 'locks-'))];
    await writeFile(program, INHIBIT);
    await chmod(program, 0o755);
    Object.assign(process.env, { DBUS_SYSTEM_BUS_ADDRESS: bus.address, LOCKS: locks, PATH: `${directory}:${PATH}` });
    manager = await LoginManager.start(bus);
    ofMachine = logind({ clock: systemClock, confDir: join(directory, 'logind.conf.d') });
  });
  after(async () => {
    manager.stop();
    await bus.stop();
    await rm(directory, { recursive: true });
  });

  /** Those of processes that are there still. */
  const locks = async (): Promise<readonly string[]> => {
    const all = await readdir(process.env['LOCKS'] ?? '');
    const alive = await Promise.all(
      all.map((pid) =>
        stat(`/proc/${pid}`).then(
          () => [pid],
          () => [],
        ),
      ),
    );
    return alive.flat();
  };
  /** The programs on this bus. */
  const watchers = async (): Promise<readonly string[]> => {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const read = (pid: string, file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
    const found = await Promise.all(
      pids.map(async (pid) => (await read(pid, 'comm')) === 'busctl\n' && (await read(pid, 'environ')).includes(bus.address)),
    );
    return pids.filter((_pid, i) => found[i]);
  };
  const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
    for (const byMs = Date.now() + 60_000; !(await isSo());) {
      assert.ok(Date.now() < byMs, what);
      await sleep(50);
    }
  };
  const stopAfter = (t: TestContext): AbortSignal => {
    const stop = new AbortController();
    t.after(() => stop.abort());
    return stop.signal;
  };

  test('logind says how long it waits, and is let wait longer', async (t) => {
    const signal = stopAfter(t);
    assert.equal(await ofMachine.delayMaxMs(signal), 5_000);
    manager.onSignal = () => (manager.delayMaxUsec = 30_000_000n);
    await ofMachine.raiseDelayMax(30, signal);
    assert.deepEqual(manager.signalled, ['systemd-logind.service']);
    assert.equal(await ofMachine.delayMaxMs(signal), 30_000);
    const path = join(directory, 'logind.conf.d', '99-kubelet.conf');
    assert.equal(await readFile(path, 'utf8'), '# Kubelet logind override\n\n[Login]\nInhibitDelayMaxSec=30\n');
  });

  test('only logind is believed: not another user who says the same', async (t) => {
    const signal = stopAfter(t);
    const liar = await LoginManager.start(bus, false);
    t.after(() => liar.stop());
    const heard: boolean[] = [];
    const ready = Promise.withResolvers<void>();
    const watching = ofMachine.watch({ onReady: ready.resolve, onPrepare: (goesDown) => heard.push(goesDown) }, signal);
    watching.catch(ready.reject);
    await ready.promise;
    liar.prepareForShutdown(true);
    manager.prepareForShutdown(false);
    await until('logind is heard', async () => heard.length > 0);
    assert.deepEqual(heard, [false]);
  });

  test('a bus that does not answer fails the call, and no longer than the call is wanted', async () => {
    manager.answers = false;
    const stop = new AbortController();
    const asked = ofMachine.delayMaxMs(stop.signal);
    stop.abort(new Error('not wanted'));
    await assert.rejects(asked, /not wanted/);
    manager.answers = true;
  });

  test('an agent delays it until its pods have ended, and takes the lock again when it is lost or the shutdown is called off', async (t) => {
    const config = join(directory, 'config.yaml');
    await writeFile(config, 'kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\nshutdownGracePeriod: 20s\n');
    const agent = await AgentUnderTest.start(t, `--config=${config}`);
    await agent.declare(
      'web',
      pod([app(`trap 'sleep 2; exit 0' TERM; while :; do sleep 1000 & wait $!; done`)], { terminationGracePeriodSeconds: 30 }),
    );
    await agent.up('web');
    await until('the lock is held', async () => (await locks()).length === 1);
    assert.equal((await watchers()).length, 1);
    const [first] = await locks();
    process.kill(Number(first), 'SIGKILL');
    await until('the lock is held again', async () => (await locks()).length === 1 && (await locks())[0] !== first);
    manager.prepareForShutdown(true);
    await agent.phase('web', 'Failed');
    await until('the lock is released', async () => (await locks()).length === 0);
    const ends = agent.engine.events.filter(({ action, container }) => action === 'die' && container !== 'POD');
    assert.equal(ends.length, 1, 'it had stopped by then');
    const state = JSON.parse(await readFile(join(agent.rootDir, 'graceful_node_shutdown_state'), 'utf8')) as { readonly endTime?: string };
    assert.match(state.endTime ?? '', /^20.*Z$/);
    manager.prepareForShutdown(false);
    await agent.up('web');
    await until('the lock is held once more', async () => (await locks()).length === 1);
    await agent.kill('SIGKILL');
    await until('the lock goes with the agent', async () => (await locks()).length === 0);
    await until('and so does what watches', async () => (await watchers()).length === 0);
  });
});
