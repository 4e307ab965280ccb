import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type ResourceRecord, ResourceRecords } from '../../../../src/agent/reconcile/resource-records.ts';
import { stateFiles } from '../../../../src/agent/state-files.ts';
import { podDirectory } from '../../../../src/model/pod-directory.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

const never = new AbortController().signal;
const uid = 'u1' as PodUid;
const given = { requests: { cpu: '100m' }, limits: { cpu: '1', memory: '64Mi' } };
const record: ResourceRecord = {
  allocation: { pod: { limits: { memory: '1Gi' } }, containers: new Map([['app', given]]) },
  actuated: new Map([['app', { requests: { cpu: '50m' } }]]),
};

describe('what pods were given, on the disk', () => {
  let rootDir: string;
  let log: RecordingLogger;
  let clock: FakeClock;
  beforeEach(async () => {
    rootDir = await mkdtemp(join(tmpdir(), 'rxlet-resources-'));
    log = new RecordingLogger();
    clock = new FakeClock();
  });
  afterEach(() => rm(rootDir, { recursive: true }));

  /** As an agent that has just started has them. */
  const records = (): ResourceRecords => new ResourceRecords((of) => stateFiles(podDirectory(rootDir, of), { log }), clock, log);
  const path = (name: string): string => join(rootDir, 'pods', uid, name);

  test('is what the next agent finds', async () => {
    const before = records();
    assert.equal(before.load(uid), undefined);
    before.save(uid, { ...record, actuated: new Map() });
    before.save(uid, record);
    await before.settled(uid, never);
    assert.deepEqual(records().load(uid), record);
    const withoutPod = { ...record, allocation: { pod: undefined, containers: new Map() } };
    before.save(uid, withoutPod);
    await before.settled(uid, never);
    assert.deepEqual(records().load(uid), withoutPod);
    assert.deepEqual(log.lines, []);
  });

  for (const [what, text] of [
    ['no JSON', '{"allocation"'],
    ['of another kind', '{"allocation":{"containers":[]},"actuated":{}}'],
    ['without a part', '{"allocation":{"containers":{}}}'],
    ['an amount that is none', '{"allocation":{"containers":{"app":{"requests":{"cpu":"much"}}}},"actuated":{}}'],
    ['no amount at all', '{"allocation":{"containers":{}},"actuated":{"app":{"limits":{"cpu":null}}}}'],
    ['of a pod that is none', '{"allocation":{"pod":1,"containers":{}},"actuated":{}}'],
  ] as const)
    test(`is set aside where it is ${what}: that is said, and the next one takes its place`, async () => {
      await mkdir(join(rootDir, 'pods', uid), { recursive: true });
      await writeFile(path('resources.json'), text);
      const after = records();
      assert.equal(after.load(uid), undefined);
      assert.deepEqual(
        log.lines.map(({ message }) => message),
        ['damaged state file set aside'],
      );
      assert.equal(await readFile(path('resources.json.damaged'), 'utf8'), text);
      after.save(uid, record);
      await after.settled(uid, never);
      assert.deepEqual(records().load(uid), record);
    });

  test('of a pod that was given nothing is not written, until it was given something', async () => {
    const some = records();
    const nothing: ResourceRecord = {
      allocation: { pod: undefined, containers: new Map([['app', {}]]) },
      actuated: new Map([['app', {}]]),
    };
    some.save(uid, nothing);
    await some.settled(uid, never);
    assert.deepEqual(await readdir(rootDir), []);
    some.save(uid, record);
    some.save(uid, nothing);
    await some.settled(uid, never);
    assert.deepEqual(records().load(uid), nothing);
  });

  test('that cannot be written is said once, and tried again', async () => {
    await writeFile(join(rootDir, 'pods'), 'a file');
    const some = records();
    const later = async (): Promise<void> => {
      await clock.advance(1_000);
      await some.settled(uid, never);
    };
    for (const actuated of [new Map(), record.actuated]) {
      some.save(uid, { ...record, actuated });
      await some.settled(uid, never);
    }
    await later();
    assert.deepEqual(
      log.lines.map(({ message }) => message.slice(0, 30)),
      ['resources of a pod not saved, '],
    );
    await rm(join(rootDir, 'pods'));
    await later();
    assert.deepEqual(records().load(uid), record);
    await rm(path('resources.json'));
    await later();
    assert.deepEqual(await readdir(join(rootDir, 'pods', uid)), [], 'what is written is not written again');
  });

  test('of a pod whose uid names no directory is not kept', async () => {
    const some = records();
    const stranger = '../..' as PodUid;
    some.save(stranger, record);
    await some.settled(stranger, never);
    assert.equal(some.load(stranger), undefined);
    assert.deepEqual(await readdir(rootDir), []);
  });
});
