import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { readRegularFile } from '../../../src/base/read-regular-file.ts';
import { loadOptions, OptionsError } from '../../../src/options/load-options.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const MIB = 2 ** 20;

async function aDirectory(t: TestContext, files: Readonly<Record<string, string>> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'rxlet-config-dir-'));
  t.after(() => rm(directory, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

const load = (directory: string) =>
  loadOptions([`--config-dir=${directory}`], { hostname: 'n1', terminal: false, readFile: (path) => readRegularFile(path, MIB) });

const problemsOf = async (directory: string): Promise<readonly string[]> => {
  const error: unknown = await load(directory).then(
    () => undefined,
    (refusal: unknown) => refusal,
  );
  assert.ok(error instanceof OptionsError);
  return error.problems.map((problem) => problem.replaceAll(directory, 'D'));
};

const named = (count: number, text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${String(at).padStart(5, '0')}.conf`, text]));

describe('a directory of drop-in files', () => {
  test('may hold a thousand, of which the last one counts', async (t) => {
    const directory = await aDirectory(t, { ...named(999, `${head}maxPods: 5\n`), 'z.conf': `${head}maxPods: 7\n` });
    assert.equal((await load(directory)).options.maxPods, 7);
  });

  test('is refused with ten thousand', async (t) => {
    assert.deepEqual(await problemsOf(await aDirectory(t, named(10_000, ''))), ['flag --config-dir: cannot read D: more than 1000 names']);
  });

  test('is refused where its files are too long together, though none is by itself', async (t) => {
    const files = named(5, `${head}# ${'x'.repeat(MIB - 200)}\n`);
    assert.equal((await load(await aDirectory(t, { ...files, '00004.conf': head }))).options.maxPods, 110);
    assert.deepEqual(await problemsOf(await aDirectory(t, files)), [
      `flag --config-dir: the files in D are longer than ${4 * MIB} characters together`,
    ]);
  });

  test('names each file that is none or cannot be read, and what is wrong in the others', async (t) => {
    const directory = await aDirectory(t, {
      'a.conf': `${head}maxPods: many\n`,
      'big.conf': ' '.repeat(10 * MIB),
      'real.txt': `${head}port: 70000\n`,
    });
    await symlink('gone', join(directory, 'dangling.conf'));
    await symlink('loop.conf', join(directory, 'loop.conf'));
    await mkdir(join(directory, 'sub'));
    await symlink('.', join(directory, 'directory.conf'));
    await symlink('../real.txt', join(directory, 'sub/linked.conf'));
    assert.equal(spawnSync('mkfifo', [join(directory, 'pipe.conf')]).status, 0);
    const problems = await problemsOf(directory);
    assert.deepEqual(
      problems.map((problem) => problem.replace(/ELOOP.*|ENOENT.*/, '…')),
      [
        'flag --config-dir: cannot read D/big.conf: it is larger than 1048576 bytes',
        'flag --config-dir: cannot read D/dangling.conf: …',
        'flag --config-dir: cannot read D/directory.conf: it is a directory, not a file',
        'flag --config-dir: cannot read D/loop.conf: …',
        'flag --config-dir: cannot read D/pipe.conf: it is a pipe, not a file',
        'D/a.conf:3:10 maxPods: expected a whole number from -2147483648 to 2147483647, found "many"',
        'D/sub/linked.conf:3:7 invalid configuration: port (--port) 70000 must be between 1 and 65535, inclusive',
      ],
    );
  });

  test('of which one nests without end, unfolds without end or repeats a field is refused with the place', async (t) => {
    const anchors = Array.from(
      { length: 9 },
      (_, at) =>
        `a${at}: &a${at} [${
          at === 0
            ? 'x'
            : Array(9)
                .fill(`*a${at - 1}`)
                .join(', ')
        }]\n`,
    ).join('');
    const problems = await problemsOf(
      await aDirectory(t, {
        '1.conf': `${head}featureGates: ${'{a: '.repeat(50_000)}`,
        '2.conf': head + anchors,
        '3.conf': `${head}maxPods: 1\nmaxPods: 2\n`,
        '4.conf': `${head}${'maxPods: 1\n'.repeat(20_000)}`,
      }),
    );
    assert.match(problems[0] ?? '', /^D\/1\.conf:\d+:\d+ /);
    assert.ok(
      problems.some((problem) => /^D\/2\.conf:\d+:\d+ /.test(problem)),
      problems.join('\n'),
    );
    assert.ok(problems.includes('D/3.conf:4:1 a field is set twice in its map'), problems.join('\n'));
    assert.ok(problems.length <= 101, `${problems.length}`);
  });
});
