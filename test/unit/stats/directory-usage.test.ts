import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { directoryUsage } from '../../../src/stats/directory-usage.ts';
import { DirectoryUsages } from '../../../src/stats/directory-usages.ts';
import { longestName, makeDeep, makeWide } from '../../builders/a-big-tree.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const never = new AbortController().signal;

async function aTree(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'rxlet-usage-'));
  t.after(() => rm(root, { recursive: true }));
  await mkdir(join(root, 'a/b'), { recursive: true });
  await writeFile(join(root, 'a/b/big'), Buffer.alloc(100_000));
  await writeFile(join(root, 'small'), 'x');
  await link(join(root, 'small'), join(root, 'a/again'));
  await symlink('/', join(root, 'a/elsewhere'));
  return root;
}

test('counts as du does: links once, nothing outside', async (t) => {
  const root = await aTree(t);
  const { bytes, inodes } = await directoryUsage(root, never);
  assert.equal(bytes, Number(execFileSync('du', ['-s', '-B1', '-x', root], { encoding: 'utf8' }).split('\t')[0]));
  assert.equal(inodes, 6);
});

test('counts what lies deeper than a path can say, under names that are no UTF-8', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'rxlet-usage-'));
  t.after(() => execFileSync('rm', ['-rf', root]));
  makeDeep(root, 50, longestName());
  makeDeep(root, 2_500);
  makeWide(root, 500, longestName);
  const { bytes, inodes } = await directoryUsage(root, never);
  assert.equal(bytes, Number(execFileSync('du', ['-s', '-B1', '-x', root], { encoding: 'utf8' }).split('\t')[0]));
  assert.equal(inodes, 1 + 50 + 1 + 2_500 + 1 + 500);
});

test('of more files with several links than are remembered each link counts as its share', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'rxlet-usage-'));
  t.after(() => rm(root, { recursive: true }));
  for (let i = 0; i < 20; i++) {
    await writeFile(join(root, `${i}`), 'x');
    await link(join(root, `${i}`), join(root, `${i}-again`));
  }
  assert.deepEqual(await directoryUsage(root, never, 5), await directoryUsage(root, never));
});

test('what is not there rejects; an abort ends the counting', async (t) => {
  await assert.rejects(directoryUsage('/no/such/directory', never), { code: 'ENOENT' });
  await assert.rejects(directoryUsage(await aTree(t), AbortSignal.abort(new Error('enough'))), /^Error: enough$/);
});

describe('the counts of directories', () => {
  /** Counts take as long as `tookMs` says. */
  const setUp = () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const counted: string[] = [];
    const world = { tookMs: 0, fails: false };
    const usages = new DirectoryUsages({
      clock,
      signal: stop.signal,
      measure: async (path) => {
        counted.push(path);
        await clock.sleep(world.tookMs);
        if (world.fails) throw new Error('gone');
        return { bytes: counted.length, inodes: 1 };
      },
    });
    return { clock, stop, counted, world, usages };
  };

  test('are not known at first, and not counted again for a minute', async () => {
    const { clock, counted, usages } = setUp();
    assert.deepEqual([usages.latest('/a'), usages.counting], [undefined, true]);
    await clock.advance(1);
    assert.equal(usages.counting, false);
    assert.deepEqual(usages.latest('/a')?.bytes, 1);
    await clock.advance(59_000);
    usages.latest('/a');
    await clock.advance(2_000);
    assert.deepEqual(counted, ['/a']);
    usages.latest('/a');
    await clock.advance(1);
    assert.deepEqual([counted, usages.latest('/a')?.bytes], [['/a', '/a'], 2]);
  });

  test('that take long are made the more rarely', async () => {
    const { clock, counted, usages, world } = setUp();
    world.tookMs = 60_000;
    usages.latest('/a');
    await clock.advance(60_001);
    for (let i = 0; i < 18; i++) {
      await clock.advance(60_000);
      usages.latest('/a');
    }
    assert.equal(counted.length, 1);
    await clock.advance(60_000);
    usages.latest('/a');
    await clock.advance(60_000);
    assert.equal(counted.length, 2);
  });

  test('are made one after the other, without what nobody keeps', async () => {
    const { clock, counted, usages, world } = setUp();
    world.tookMs = 1000;
    for (const path of ['/a', '/b', '/c']) usages.latest(path);
    await clock.advance(1);
    assert.deepEqual(counted, ['/a']);
    usages.keep(new Set(['/a', '/c']));
    await clock.advance(3000);
    assert.deepEqual(counted, ['/a', '/c']);
    await usages.settled();
  });

  test('that fail leave nothing known, and others go on', async () => {
    const { clock, usages, world } = setUp();
    world.fails = true;
    usages.latest('/a');
    await clock.advance(1);
    world.fails = false;
    usages.latest('/b');
    await clock.advance(1);
    assert.deepEqual([usages.latest('/a'), usages.latest('/b')?.bytes], [undefined, 2]);
  });

  test('end with their signal', async () => {
    const { clock, stop, counted, usages } = setUp();
    stop.abort();
    assert.equal(usages.latest('/a'), undefined);
    await clock.advance(1);
    assert.deepEqual(counted, []);
  });
});
