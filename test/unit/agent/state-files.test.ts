import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { isJsonObject } from '../../../src/base/json-object.ts';
import { stateFiles } from '../../../src/agent/state-files.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { type StateFile, versioned } from '../../../src/ports/state-files.ts';

let directory: string;
let log: RecordingLogger;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'state-files-'));
  log = new RecordingLogger();
});
afterEach(() => rmSync(directory, { recursive: true }));

const path = (): string => join(directory, 'numbers.json');
const numbersIn = (json: unknown): readonly number[] | undefined =>
  Array.isArray(json) && json.every((each) => typeof each === 'number') ? json : undefined;
/** As an agent that has just started opens it. */
const open = (): StateFile<readonly number[]> => stateFiles(directory, { log }).open('numbers.json', numbersIn);

test('what was saved is loaded by the next agent, from a file for its owner alone', async () => {
  assert.equal(open().load(), undefined);
  await open().save([1, 2]);
  assert.deepEqual(open().load(), [1, 2]);
  assert.equal(readFileSync(path(), 'utf8'), '[1,2]');
  assert.equal(statSync(path()).mode & 0o777, 0o600);
  assert.deepEqual(log.lines, []);
});

test('saves that come while one is under way are one: the last value, one promise', async () => {
  const file = open();
  const first = file.save([0]);
  const merged = Array.from({ length: 1000 }, (_, n) => file.save([n]));
  assert.equal(new Set([first, ...merged]).size, 1);
  await first;
  assert.deepEqual(open().load(), [999]);
  const underWay = file.save([1000]);
  // It has begun once its turn has come.
  await Promise.resolve();
  await Promise.resolve();
  const later = [file.save([1001]), file.save([1002])];
  assert.equal(new Set([underWay, ...later]).size, 2);
  await underWay;
  assert.deepEqual(open().load(), [1000]);
  await later[0];
  assert.deepEqual(open().load(), [1002]);
});

test('a save that fails rejects for those who asked for it, and the next one is tried all the same', async () => {
  const file = open();
  await file.save([1]);
  mkdirSync(`${path()}.part`);
  await assert.rejects(file.save([2]), { code: 'ERR_FS_EISDIR' });
  assert.deepEqual(open().load(), [1]);
  rmSync(`${path()}.part`, { recursive: true });
  await file.save([3]);
  assert.deepEqual(open().load(), [3]);
});

const damages: readonly (readonly [string, () => void])[] = [
  ['cut off', () => writeFileSync(path(), '[1,')],
  ['empty', () => writeFileSync(path(), '')],
  ['of another kind', () => writeFileSync(path(), '{"numbers":[1]}')],
  ['a directory', () => mkdirSync(path())],
  ['a pipe', () => execFileSync('mkfifo', [path()])],
  [
    'too big',
    () => {
      writeFileSync(path(), '');
      truncateSync(path(), 1 << 30);
    },
  ],
];
for (const [what, damage] of damages) {
  test(`a state file that is ${what} is set aside, and there is one more to save`, async () => {
    damage();
    const file = open();
    assert.equal(file.load(), undefined);
    assert.deepEqual(
      log.lines.map(({ message }) => message),
      ['damaged state file set aside'],
    );
    assert.deepEqual(readdirSync(directory), ['numbers.json.damaged']);
    await file.save([1]);
    assert.deepEqual(open().load(), [1]);
  });
}

test('of damaged files the last one is kept', async () => {
  for (const text of ['first', 'second']) {
    writeFileSync(path(), text);
    assert.equal(open().load(), undefined);
  }
  assert.deepEqual(readdirSync(directory), ['numbers.json.damaged']);
  assert.equal(readFileSync(`${path()}.damaged`, 'utf8'), 'second');
});

test('where a damaged file cannot be set aside it stays, and the log says so', () => {
  writeFileSync(path(), 'x');
  mkdirSync(`${path()}.damaged`);
  assert.equal(open().load(), undefined);
  assert.deepEqual(
    log.lines.map(({ message }) => message),
    ['damaged state file not set aside'],
  );
  assert.equal(readFileSync(path(), 'utf8'), 'x');
});

test('a name has one owner', () => {
  const files = stateFiles(directory, { log });
  files.open('numbers.json', numbersIn);
  assert.throws(() => files.open('numbers.json', numbersIn), /has an owner already/);
});

describe('a state file with a version', () => {
  interface Colours {
    readonly colours: readonly string[];
  }
  /** Version 1 had one colour. */
  const coloursIn = (json: unknown, version: number): Colours | undefined => {
    if (!isJsonObject(json)) return undefined;
    const { colour, colours } = json;
    if (version === 1) return typeof colour === 'string' ? { colours: [colour] } : undefined;
    return Array.isArray(colours) && colours.every((each) => typeof each === 'string') ? { colours } : undefined;
  };
  const opened = (): StateFile<Colours> => stateFiles(directory, { log }).open('numbers.json', versioned(2, coloursIn));

  test('says it, and is read by it', async () => {
    await opened().save({ colours: ['red', 'blue'] });
    assert.equal(readFileSync(path(), 'utf8'), '{"version":2,"colours":["red","blue"]}');
    assert.deepEqual(opened().load(), { colours: ['red', 'blue'] });
  });

  for (const [what, text] of [
    ['without one', '{"colour":"red"}'],
    ['of version 1', '{"version":1,"colour":"red"}'],
  ] as const)
    test(`is migrated ${what}, with the next save`, async () => {
      writeFileSync(path(), text);
      const file = opened();
      const value = file.load();
      assert.deepEqual(value, { colours: ['red'] });
      if (value) await file.save(value);
      assert.equal(readFileSync(path(), 'utf8'), '{"version":2,"colours":["red"]}');
      assert.deepEqual(log.lines, []);
    });

  test('that is of a newer one is kept for a newer agent, which is said, and there is another one to save', async () => {
    const newer = '{"version":3,"colours":["red"]}';
    writeFileSync(path(), newer);
    const file = opened();
    assert.equal(file.load(), undefined);
    await file.save({ colours: [] });
    assert.equal(readFileSync(`${path()}.version-3`, 'utf8'), newer);
    assert.deepEqual(opened().load(), { colours: [] });
    assert.deepEqual(
      log.lines.map(({ message, fields }) => [message, String(fields['error'])]),
      [['state file of a newer agent set aside', 'Error: version 3, and this agent knows 2 at most']],
    );
  });

  for (const version of [-1, 0, 1.5, '9', null, 2 ** 60])
    test(`whose version is ${JSON.stringify(version)} is of the first`, () => {
      writeFileSync(path(), JSON.stringify({ version, colour: 'red' }));
      assert.deepEqual(opened().load(), { colours: ['red'] });
    });
});
