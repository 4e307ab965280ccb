import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endProcess } from '../../../src/base/end-process.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

function setUp() {
  const [clock, log, did] = [new FakeClock(), new RecordingLogger(), [] as string[]];
  const process = {
    pid: 7,
    resources: [] as string[],
    getActiveResourcesInfo: () => process.resources,
    exit: (code: number) => void did.push(`exit ${code}`),
    kill: (pid: number, signal: string) => void did.push(`${signal} ${pid}`),
  };
  return { clock, log, did, process, end: (code: number, withinMs: number) => endProcess(code, withinMs, { process, clock, log }) };
}

test('where no thread has work it exits at once, whatever else there is', () => {
  const { did, process, clock, end } = setUp();
  process.resources = ['Timeout', 'TCPSocketWrap', 'PipeWrap', 'ProcessWrap'];
  end(3, 1000);
  assert.deepEqual(did, ['exit 3']);
  assert.equal(clock.actions.length, 0);
});

for (const resource of ['FSReqCallback', 'FSReqPromise', 'GetAddrInfoReqWrap', 'GetNameInfoReqWrap']) {
  test(`it exits as soon as the last ${resource} has ended`, async () => {
    const { did, process, clock, end } = setUp();
    process.resources = [resource];
    end(0, 1000);
    await clock.advance(900);
    assert.deepEqual(did, []);
    process.resources = [];
    await clock.advance(20);
    assert.deepEqual(did, ['exit 0']);
    assert.equal(clock.actions.length, 0);
  });
}

test('where one never ends the process kills itself, and says what it was', async () => {
  const { did, log, process, clock, end } = setUp();
  process.resources = ['FSReqCallback', 'Timeout', 'FSReqCallback', 'GetAddrInfoReqWrap'];
  end(0, 1000);
  await clock.advance(1020);
  assert.deepEqual(did, ['SIGKILL 7']);
  assert.equal(clock.actions.length, 0);
  const [{ fields }] = log.lines.filter(({ level }) => level === 'warn') as [(typeof log.lines)[number]];
  assert.deepEqual(fields, { code: 0, withinMs: 1000, hanging: 'FSReqCallback: 2, GetAddrInfoReqWrap: 1' });
});
