import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBehaviour, programOfBehaviour } from '../../../../src/engines/fake/container-behaviour.ts';
import { ContainerProcess } from '../../../../src/engines/fake/container-process.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

for (const [text, behaviour] of [
  ['', {}],
  ['exit=1 after=5s', { exit: [1], afterMs: 5000 }],
  ['  exit=1,1,0\n after=1m30s ', { exit: [1, 1, 0], afterMs: 90_000 }],
  ['term=ignore', { term: 'ignore' }],
  ['term=143', { term: 143 }],
  ['start=fail', { start: 'it fails as its annotation says' }],
  ['start=fail:no such device: /dev/x exit=1', { start: 'no such device: /dev/x', exit: [1] }],
  ['create=fail:the disk is full', { create: 'the disk is full' }],
  ['pull=slow:3s', { pull: { kind: 'slow', ms: 3000 } }],
  ['pull=fail:manifest unknown', { pull: { kind: 'fail', message: 'manifest unknown' } }],
  ['pull=unavailable', { pull: { kind: 'unavailable' } }],
  ['pull=hang', { pull: { kind: 'hang' } }],
] as const)
  test(`"${text}" is understood`, () => assert.deepEqual(parseBehaviour(text), behaviour));

for (const [text, words] of [
  ['exti=1', /unknown word "exti=1", known are exit, after/],
  ['fail', /unknown word "fail"/],
  ['exit=300', /"300" is no exit code/],
  ['exit=', /"" is no exit code/],
  ['after=5', /missing unit in duration "5"/],
  ['start=maybe', /"maybe" is not "fail" or "fail:words"/],
  ['pull=never', /"never" is not slow:DURATION/],
  ['pull=slow', /invalid duration/],
] as const)
  test(`"${text}" is refused with the word that is wrong`, () => assert.throws(() => parseBehaviour(text), words));

for (const [text, attempt, termAtMs, end] of [
  ['exit=3', 0, undefined, [3, 0]],
  ['exit=3 after=5s', 0, undefined, [3, 5000]],
  ['after=5s', 0, undefined, [0, 5000]],
  ['exit=1,2,0', 0, undefined, [1, 0]],
  ['exit=1,2,0', 1, undefined, [2, 0]],
  ['exit=1,2,0', 7, undefined, [0, 0]],
  ['exit=3 after=5s', 0, 1000, [0, 1000]],
  ['exit=3 after=5s term=143', 0, 1000, [143, 1000]],
  ['exit=3 after=5s term=ignore', 0, 1000, [3, 5000]],
  ['term=9', 0, 1000, [9, 1000]],
  ['term=ignore', 0, 1000, undefined],
] as const)
  test(`"${text}", attempt ${attempt}, ${termAtMs ? 'with' : 'without'} SIGTERM ${end ? `ends ${end[0]} after ${end[1]} ms` : 'runs on'}`, async () => {
    const clock = new FakeClock();
    let seen: readonly [number, number] | undefined;
    const program = programOfBehaviour(parseBehaviour(text), attempt);
    assert.ok(program);
    const process = new ContainerProcess(program, clock, (code) => {
      seen = [code, clock.now()];
    });
    process.start();
    await clock.advance(termAtMs ?? 0);
    if (termAtMs) process.terminate();
    await clock.advance(60_000);
    assert.deepEqual(seen, end);
  });

test('a behaviour about images and starts leaves the command to decide', () => {
  assert.equal(programOfBehaviour(parseBehaviour('pull=slow:3s start=fail'), 0), undefined);
});
