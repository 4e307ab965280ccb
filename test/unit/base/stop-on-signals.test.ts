import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { stopOnSignals } from '../../../src/base/stop-on-signals.ts';

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

for (const [first, second, code] of [
  ['SIGTERM', 'SIGTERM', 143],
  ['SIGINT', 'SIGINT', 130],
  ['SIGTERM', 'SIGINT', 130],
] as const) {
  test(`${first} stops in good order, ${second} after it exits with ${code}, unless it comes at once`, () => {
    const process = new FakeProcess();
    let nowMs = 5_000;
    const stop = stopOnSignals(process, silentLogger, { monotonicMs: () => nowMs });
    assert.equal(stop.aborted, false);
    process.emit(first);
    assert.deepEqual([stop.aborted, process.exits], [true, []]);
    nowMs += 499;
    process.emit(second);
    assert.deepEqual(process.exits, []);
    nowMs += 1;
    process.emit(second);
    assert.deepEqual(process.exits, [code]);
  });
}
