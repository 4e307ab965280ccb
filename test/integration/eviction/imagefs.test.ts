import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { engineOnASmallDisk } from '../../builders/engine-on-a-small-disk.ts';
import { stays } from '../agent/pod-specs.ts';
import { evictingAgent } from './evicting-agent.ts';
import { fillDisk, writes } from './fill-disk.ts';

/** Disposals in the reverse order: pods before their engine, that before its disk. */
function inReverse(t: { after(dispose: () => Promise<void>): void }): { after(dispose: () => Promise<void>): void } {
  const stack = new AsyncDisposableStack();
  t.after(() => stack.disposeAsync());
  return { after: (dispose) => stack.defer(dispose) };
}

const unused = (images: readonly string[]): readonly string[] => images.filter((name) => name.startsWith('rxlet-test/'));

describe('images and containers on a small disk of their own', { timeout: 300_000 }, () => {
  test('images go before pods; then pods by priority and by what they write there, not into volumes', async (t) => {
    const owner = inReverse(t);
    const engine = await engineOnASmallDisk(owner, 320);
    await engine.addImage('rxlet-test/old:1', 40);
    await engine.addImage('rxlet-test/other:1', 40);
    const agent = await evictingAgent(owner, { dockerEndpoint: engine.endpoint, evictionHard: { 'imagefs.available': '60%' } });
    const [elsewhere, little] = [agent.pod('elsewhere', writes(150)), agent.pod('little', writes(4, '/file'))];
    agent.declare(elsewhere, little);
    await agent.until('both run', () => [elsewhere, little].every((pod) => agent.stateOf(pod) === 'Running'));
    assert.equal(unused(await engine.images()).length, 2);

    // Less than 60 % is left: what the images take is enough.
    const writer = agent.pod('writer', writes(80, '/file'));
    agent.declare(elsewhere, little, writer);
    await agent.until('the node is short of disk', () => agent.pressures().includes('DiskPressure'));
    await agent.until('the unused images are removed', async () => unused(await engine.images()).length === 0);
    await agent.until('the pressure is over', () => agent.pressures().length === 0);
    assert.deepEqual(agent.evicted, []);
    assert.deepEqual([elsewhere, little, writer].map(agent.stateOf), ['Running', 'Running', 'Running']);

    // Nothing else is left to go.
    const low = agent.pod('low', writes(50, '/file'), { priority: -1 });
    agent.declare(elsewhere, little, writer, low);
    await agent.until('who has least priority is evicted', () => agent.stateOf(low) === 'Failed Evicted');
    assert.match(
      agent.messageOf(low),
      /^The node was low on resource: ephemeral-storage\. Threshold quantity: \d+, available: \d+Ki\. Container app was using \d+Ki, request is 0, has larger consumption of ephemeral-storage\. $/,
    );
    await agent.until('the pressure is over again', () => agent.pressures().length === 0);
    const big = agent.pod('big', writes(60, '/file'));
    agent.declare(elsewhere, little, writer, big);
    await agent.until('who writes most is evicted', () => agent.stateOf(writer) === 'Failed Evicted');
    await agent.until('the pressure is over at last', () => agent.pressures().length === 0);
    assert.deepEqual([elsewhere, little, big].map(agent.stateOf), ['Running', 'Running', 'Running']);
    assert.deepEqual(agent.evicted, ['low imagefs.available', 'writer imagefs.available']);
    // Nothing flaps: three times it comes and goes.
    assert.deepEqual(agent.turns.filter((turn) => turn === 'DiskPressure').length, 3);
  });

  test('inodes run short, too', async (t) => {
    const owner = inReverse(t);
    const engine = await engineOnASmallDisk(owner, 128);
    const agent = await evictingAgent(owner, { dockerEndpoint: engine.endpoint, evictionHard: { 'imagefs.inodesFree': '25%' } });
    const innocent = agent.pod('innocent', `cd /data; seq 3000 | xargs touch; ${stays}`);
    const many = agent.pod('many', `mkdir /many; cd /many; seq 3000 | xargs touch; ${stays}`);
    agent.declare(innocent, many);
    await agent.until('who has most files there is evicted', () => agent.stateOf(many) === 'Failed Evicted');
    assert.match(agent.messageOf(many), /^The node was low on resource: inodes\. /);
    await agent.until('the pressure is over', () => agent.pressures().length === 0);
    assert.equal(agent.stateOf(innocent), 'Running');
    assert.deepEqual(agent.evicted, ['many imagefs.inodesFree']);
  });

  test('full to the last byte, it is freed of images, and pods start again', async (t) => {
    const owner = inReverse(t);
    const engine = await engineOnASmallDisk(owner, 200);
    await engine.addImage('rxlet-test/old:1', 60);
    const agent = await evictingAgent(owner, { dockerEndpoint: engine.endpoint, evictionHard: { 'imagefs.available': '15%' } });
    const innocent = agent.pod('innocent', stays);
    agent.declare(innocent);
    await agent.until('the innocent pod runs', () => agent.stateOf(innocent) === 'Running');
    const filler = join(engine.disk.path, 'filler');
    await fillDisk(filler);
    await agent.until('the node is short of disk', () => agent.pressures().includes('DiskPressure'));
    await agent.until('the unused image is removed', async () => unused(await engine.images()).length === 0);
    await rm(filler);
    await agent.until('the pressure is over', () => agent.pressures().length === 0);
    assert.deepEqual([agent.evicted, agent.stateOf(innocent)], [[], 'Running']);
    const next = agent.pod('next', stays);
    agent.declare(innocent, next);
    await agent.until('a new pod runs', () => agent.stateOf(next) === 'Running');
  });
});
