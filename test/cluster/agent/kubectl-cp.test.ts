import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { app, pod } from '../../integration/agent/pod-specs.ts';
import { describeKubectl } from './describe-kubectl.ts';

const SIZE = 50_000_000;

describeKubectl(
  'cp',
  async (node) => {
    await node.create('files', pod([app()]));
    await node.up('files');
  },
  (kubectl) => {
    const scratch = async (t: { after(dispose: () => Promise<void>): void }): Promise<string> => {
      const directory = await mkdtemp(join(tmpdir(), 'rxlet-cp-'));
      t.after(() => rm(directory, { recursive: true }));
      return directory;
    };

    test('50 MB arrive whole in the container, and come back whole', async (t) => {
      const [directory, files] = [await scratch(t), kubectl.pod('files')];
      const bytes = randomBytes(SIZE);
      const [there, back] = [join(directory, 'there'), join(directory, 'back')];
      await writeFile(there, bytes);
      const startedAtMs = performance.now();
      await kubectl.prints('cp', there, `${files}:/tmp/there`);
      const halfAtMs = performance.now();
      const sum = hash('sha256', bytes);
      assert.equal(await kubectl.prints('exec', files, '--', 'sha256sum', '/tmp/there'), `${sum}  /tmp/there\n`);
      const againAtMs = performance.now();
      await kubectl.prints('cp', `${files}:/tmp/there`, back);
      t.diagnostic(`in ${Math.round(halfAtMs - startedAtMs)} ms, out ${Math.round(performance.now() - againAtMs)} ms`);
      assert.equal(hash('sha256', await readFile(back)), sum);
    });

    test('a directory goes with all that is in it', async (t) => {
      const [directory, files] = [await scratch(t), kubectl.pod('files')];
      await mkdir(join(directory, 'tree/sub'), { recursive: true });
      await writeFile(join(directory, 'tree/one'), 'one');
      await writeFile(join(directory, 'tree/sub/two'), 'two');
      const there = `/tmp/tree-${kubectl.version}`;
      await kubectl.prints('cp', join(directory, 'tree'), `${files}:${there}`);
      assert.equal(await kubectl.prints('exec', files, '--', 'cat', `${there}/one`, `${there}/sub/two`), 'onetwo');
      await kubectl.prints('cp', `${files}:${there}`, join(directory, 'back'));
      assert.equal(await readFile(join(directory, 'back/sub/two'), 'utf8'), 'two');
    });

    test('a file that is not there makes none here', async (t) => {
      const here = await scratch(t);
      await kubectl.run('cp', `${kubectl.pod('files')}:/tmp/nope`, join(here, 'nope'));
      assert.deepEqual(await readdir(here), []);
      // As cp asks for it; cp itself has often ended with the empty archive before it hears why that is empty.
      const { stderr } = await kubectl.run('exec', kubectl.pod('files'), '--', 'tar', 'cf', '-', '/tmp/nope');
      assert.match(stderr, /\/tmp\/nope: No such file or directory/);
    });
  },
);
