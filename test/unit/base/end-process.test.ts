import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endProcess } from '../../../src/base/end-process.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

function setUp(hasShell = true) {
  const [clock, log, did] = [new FakeClock(), new RecordingLogger(), [] as string[]];
  const process = {
    pid: 7,
    resources: [] as string[],
    getActiveResourcesInfo: () => process.resources,
    emit: (event: string, code: number) => void did.push(`${event} ${code} is heard`),
    execve: (file: string, words: readonly string[], env: object) =>
      void did.push(`${file} ${words.slice(1).join(' ')}`, ...Object.keys(env)),
    exit: (code: number) => void did.push(`exit ${code}`),
    kill: (pid: number, signal: string) => void did.push(`${signal} ${pid}`),
  };
  const canRun = (): boolean => hasShell;
  return { clock, log, did, process, end: (code: number, withinMs: number) => endProcess(code, withinMs, { process, clock, log, canRun }) };
}

test('where no thread has work it ends at once, whatever else there is', () => {
  const { did, process, clock, end } = setUp();
  process.resources = ['Timeout', 'TCPSocketWrap', 'PipeWrap', 'ProcessWrap'];
  end(3, 1000);
  assert.deepEqual(did, ['exit 3 is heard', '/bin/sh -c exit 3']);
  assert.equal(clock.actions.length, 0);
});

test('where there is no shell it exits as Node does', () => {
  const { did, end } = setUp(false);
  end(3, 1000);
  assert.deepEqual(did, ['exit 3']);
});

for (const resource of ['FSReqCallback', 'FSReqPromise', 'GetAddrInfoReqWrap', 'GetNameInfoReqWrap']) {
  test(`it ends as soon as the last ${resource} has ended`, async () => {
    const { did, process, clock, end } = setUp();
    process.resources = [resource];
    end(0, 1000);
    await clock.advance(900);
    assert.deepEqual(did, []);
    process.resources = [];
    await clock.advance(20);
    assert.deepEqual(did, ['exit 0 is heard', '/bin/sh -c exit 0']);
    assert.equal(clock.actions.length, 0);
  });
}

for (const [hasShell, done] of [
  [true, ['exit 4 is heard', '/bin/sh -c exit 4']],
  [false, ['SIGKILL 7']],
] as const) {
  test(`where one never ends the process does, ${hasShell ? 'with its code' : 'and without a shell by SIGKILL'}, and says what it was`, async () => {
    const { did, log, process, clock, end } = setUp(hasShell);
    process.resources = ['FSReqCallback', 'Timeout', 'FSReqCallback', 'GetAddrInfoReqWrap'];
    end(4, 1000);
    await clock.advance(1020);
    assert.deepEqual(did, done);
    assert.equal(clock.actions.length, 0);
    const [{ fields }] = log.lines.filter(({ level }) => level === 'warn') as [(typeof log.lines)[number]];
    assert.deepEqual(fields, { code: 4, withinMs: 1000, hanging: 'FSReqCallback: 2, GetAddrInfoReqWrap: 1' });
  });
}

test('without time it ends at once, whatever its threads do, and blames none of them', () => {
  const { did, log, process, end } = setUp();
  process.resources = ['FSReqCallback'];
  end(1, 0);
  assert.deepEqual(did, ['exit 1 is heard', '/bin/sh -c exit 1']);
  assert.deepEqual(log.lines, []);
});
