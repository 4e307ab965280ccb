import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import type { SliceSelection } from '../../../src/dra/resource-api.ts';
import { SliceWiper } from '../../../src/dra/slice-wiper.ts';
import { ApiError } from '../../../src/model/api-error.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

describe('what drivers that are gone have published', () => {
  let clock: FakeClock;
  let asked: SliceSelection[];
  let answer: (signal: AbortSignal) => Promise<void>;
  let wiper: SliceWiper;

  beforeEach(() => {
    clock = new FakeClock();
    asked = [];
    answer = async () => {};
    const api = {
      deleteSlices: (_node: string, whose: SliceSelection, signal: AbortSignal) => {
        asked.push(whose);
        return answer(signal);
      },
    };
    wiper = new SliceWiper({ api, nodeName: 'n1', clock, random: () => 0, log: silentLogger });
  });

  const hangs = (signal: AbortSignal): Promise<void> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
  const fails = (status: number) => async (): Promise<void> => {
    throw new ApiError(status, '', 'no');
  };

  it('goes once, 30 s after it was last heard of', async () => {
    for (let i = 0; i < 1_000; i++) {
      wiper.gone('a');
      await clock.advance(29_999);
      wiper.isBack('a');
    }
    assert.deepEqual(asked, []);
    for (let i = 0; i < 1_000; i++) wiper.gone('a');
    await clock.advance(30_000);
    await clock.advance(600_000);
    assert.deepEqual(asked, [{ of: 'a' }]);
    assert.equal(clock.actions.length, 0);
  });

  for (const [what, fault] of [
    ['fails', fails(500)],
    ['hangs', hangs],
  ] as const)
    it(`is left alone where the API server ${what} and the driver is back, and goes when that has gone again`, async () => {
      answer = fault;
      wiper.gone('a');
      await clock.advance(31_000);
      const before = asked.length;
      assert(before > 0);
      wiper.isBack('a');
      answer = async () => {};
      await clock.advance(600_000);
      assert.deepEqual([asked.length, clock.actions.length], [before, 0]);
      wiper.gone('a');
      await clock.advance(30_000);
      assert.equal(asked.length, before + 1);
    });

  it('is asked for again until it goes, with those that listen by then left out', async () => {
    answer = fails(503);
    wiper.begin();
    await clock.advance(3_600_000);
    assert(asked.length > 10 && asked.length < 25, `asked ${asked.length} times in an hour`);
    wiper.isBack('a');
    wiper.gone('b');
    answer = async () => {};
    const before = asked.length;
    await clock.advance(300_000);
    assert.deepEqual(asked.slice(before), [{ of: 'b' }, { notOf: new Set(['a']) }]);
  });

  it('stays where the agent may not remove it', async () => {
    answer = fails(403);
    wiper.begin();
    wiper.gone('a');
    await clock.advance(3_600_000);
    assert.deepEqual(asked, [{ notOf: new Set(['a']) }, { of: 'a' }]);
  });

  it('is remembered of so many drivers at a time', async () => {
    answer = fails(500);
    for (let i = 0; i < 300; i++) wiper.gone(`${i}.org`);
    await clock.advance(30_000);
    assert.equal(asked.length, 256);
    assert.equal(clock.actions.length, 256);
  });

  it('stays when the agent stops', async () => {
    answer = hangs;
    wiper.begin();
    wiper.gone('a');
    await clock.advance(30_000);
    wiper.gone('b');
    const before = asked.length;
    wiper.close();
    // Plugins may go, and come, while it stops.
    wiper.gone('c');
    await clock.advance(600_000);
    assert.deepEqual([asked.length, clock.actions.length], [before, 0]);
  });
});
