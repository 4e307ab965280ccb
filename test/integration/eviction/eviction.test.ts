import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { smallFileSystem } from '../../builders/small-file-system.ts';
import { stays } from '../agent/pod-specs.ts';
import { evictingAgent } from './evicting-agent.ts';
import { fillDisk, writes } from './fill-disk.ts';

describe('on a small disk', { timeout: 300_000 }, () => {
  test('the pod that fills it goes, ten times in a row, and no other; the pressure comes and goes', async (t) => {
    const disk = await smallFileSystem(t, 64);
    const agent = await evictingAgent(t, {
      rootDir: join(disk.path, 'root'),
      evictionHard: { 'nodefs.available': '30%' },
      evictionPressureTransitionPeriodMs: 1_000,
    });
    const innocent = agent.pod('innocent', writes(2));
    agent.declare(innocent);
    await agent.until('the innocent pod runs', () => agent.stateOf(innocent) === 'Running');
    for (let time = 1; time <= 10; time++) {
      const hog = agent.pod(`hog${time}`, writes(45));
      agent.declare(innocent, hog);
      await agent.until('the hog is evicted', () => agent.stateOf(hog) === 'Failed Evicted');
      if (time === 1) {
        assert.deepEqual(agent.pressures(), ['DiskPressure']);
        assert.match(
          agent.messageOf(hog),
          /^The node was low on resource: ephemeral-storage\. Threshold quantity: \d+, available: \d+(Ki)?\. /,
        );
      }
      agent.declare(innocent);
      await agent.until('the pressure is over', () => agent.pressures().length === 0);
    }
    assert.equal(agent.stateOf(innocent), 'Running');
    assert.deepEqual(
      agent.evicted,
      Array.from({ length: 10 }, (_, index) => `hog${index + 1} nodefs.available`),
    );
    // Nothing flaps: each time it comes once and goes once.
    assert.deepEqual(agent.turns.filter((turn) => turn === 'DiskPressure').length, 10);
  });

  test('pods go in the order of their priority, then of what they use, until enough is free', async (t) => {
    const disk = await smallFileSystem(t, 64);
    const agent = await evictingAgent(t, { rootDir: join(disk.path, 'root'), evictionHard: { 'nodefs.available': '70%' } });
    const [low, big, little] = [
      agent.pod('low', writes(9), { priority: -1 }),
      agent.pod('big', writes(25)),
      agent.pod('little', writes(4)),
    ];
    agent.declare(little, big, low);
    await agent.until('two are evicted', () => agent.stateOf(big) === 'Failed Evicted' && agent.stateOf(low) === 'Failed Evicted');
    await agent.until('the pressure is over', () => agent.pressures().length === 0);
    assert.equal(agent.stateOf(little), 'Running');
    assert.deepEqual(agent.evicted.map((each) => each.split(' ')[0]).at(-1), 'big');
  });

  test('inodes run short, too; and a volume has no more than its limit', async (t) => {
    const disk = await smallFileSystem(t, 64);
    const agent = await evictingAgent(t, { rootDir: join(disk.path, 'root'), evictionHard: { 'nodefs.inodesFree': '20%' } });
    const innocent = agent.pod('innocent', writes(2));
    const many = agent.pod('many', `cd /data; seq 4000 | xargs touch; ${stays}`);
    const limited = agent.pod('limited', writes(8), { volumes: [{ name: 'data', emptyDir: { sizeLimit: '5Mi' } }] });
    agent.declare(innocent, many);
    await agent.until('who has most files is evicted', () => agent.stateOf(many) === 'Failed Evicted');
    assert.match(agent.messageOf(many), /^The node was low on resource: inodes\. /);
    await agent.until('the pressure is over', () => agent.pressures().length === 0);
    agent.declare(innocent, limited);
    await agent.until('who exceeds its limit is evicted', () => agent.stateOf(limited) === 'Failed Evicted');
    assert.equal(agent.messageOf(limited), 'Usage of EmptyDir volume "data" exceeds the limit "5Mi". ');
    assert.equal(agent.stateOf(innocent), 'Running');
    assert.deepEqual(agent.evicted, ['many nodefs.inodesFree', 'limited emptydirfs.limit']);
  });

  test('that is full to the last byte, the agent goes on, and knows afterwards what it did', async (t) => {
    const disk = await smallFileSystem(t, 64);
    const settings = { rootDir: join(disk.path, 'root'), evictionHard: { 'nodefs.available': '5%' } };
    const agent = await evictingAgent(t, settings);
    const [innocent, hog] = [agent.pod('innocent', writes(2)), agent.pod('hog', writes(100))];
    agent.declare(innocent);
    await agent.until('the innocent pod runs', () => agent.stateOf(innocent) === 'Running');
    const filler = join(disk.path, 'filler');
    await fillDisk(filler);
    await agent.until('the pressure is told', () => agent.pressures().includes('DiskPressure'));
    agent.declare(innocent, hog);
    await agent.until('a node without room takes none', () => agent.stateOf(hog) === 'Failed Evicted');
    assert.equal(agent.messageOf(hog), 'Pod was rejected: The node had condition: [DiskPressure]. ');
    await agent.until('the pod whose data there is goes', () => agent.stateOf(innocent) === 'Failed Evicted');
    await rm(filler);
    await agent.until('the pressure is over', () => agent.pressures().length === 0);
    await agent.stop();
    const next = await evictingAgent(t, settings);
    next.declare(innocent);
    await next.until('an agent that starts again knows of the end', () => next.stateOf(innocent) === 'Failed Evicted');
  });
});

describe('of what all pods together may have', { timeout: 300_000 }, () => {
  test('memory: the one that uses most of it goes', async (t) => {
    // What is left for pods: 400 MiB of the machine's memory.
    const reserved = `${Math.trunc(totalmem() / 2 ** 20) - 400}Mi`;
    const agent = await evictingAgent(t, {
      systemReserved: { memory: reserved },
      evictionHard: { 'memory.available': '100Mi' },
    });
    const inMemory = { volumes: [{ name: 'data', emptyDir: { medium: 'Memory', sizeLimit: '390Mi' } }] };
    const [innocent, hog] = [agent.pod('innocent', writes(20), inMemory), agent.pod('hog', writes(320), inMemory)];
    agent.declare(innocent);
    await agent.until('the innocent pod runs', () => agent.stateOf(innocent) === 'Running');
    agent.declare(innocent, hog);
    await agent.until('the hog is evicted', () => agent.stateOf(hog) === 'Failed Evicted');
    assert.match(
      agent.messageOf(hog),
      /^The node was low on resource: memory\. .*Container app was using 3\d\d\S+, request is 0, has larger/,
    );
    await agent.until('the pressure is over', () => agent.pressures().length === 0);
    assert.deepEqual([agent.evicted, agent.stateOf(innocent)], [['hog allocatableMemory.available'], 'Running']);
  });

  test('processes: the one that has most of them goes', async (t) => {
    // Others on this machine begin and end some meanwhile.
    const [most, now] = await Promise.all([mostProcesses(), processesNow()]);
    const agent = await evictingAgent(t, {
      evictionHard: { 'pid.available': String(most - now - 600) },
      podPidsLimit: -1,
    });
    const innocent = agent.pod('innocent', stays);
    const hog = agent.pod('hog', `i=0; while [ $i -lt 1200 ]; do sleep 1000 & i=$((i + 1)); done; ${stays}`);
    agent.declare(innocent, hog);
    await agent.until('the hog is evicted', () => agent.stateOf(hog) === 'Failed Evicted');
    assert.match(agent.messageOf(hog), /^The node was low on resource: pids\. /);
    await agent.until('the pressure is over', () => agent.pressures().length === 0);
    assert.deepEqual([agent.evicted, agent.stateOf(innocent)], [['hog pid.available'], 'Running']);
  });
});

async function mostProcesses(): Promise<number> {
  const texts = await Promise.all(['pid_max', 'threads-max'].map((name) => readFile(`/proc/sys/kernel/${name}`, 'utf8')));
  return Math.min(...texts.map(Number));
}

const processesNow = async (): Promise<number> => Number(/\/(\d+) /.exec(await readFile('/proc/loadavg', 'utf8'))?.[1]);
