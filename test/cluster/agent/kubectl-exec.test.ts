import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { terminalOfAShell } from '../../builders/terminal.ts';
import { app, pod, stays } from '../../integration/agent/pod-specs.ts';
import { describeKubectl } from './describe-kubectl.ts';

describeKubectl(
  'exec',
  async (node) => {
    await node.create(
      'shell',
      pod([app(), app(stays, { name: 'other', env: [{ name: 'WHO', value: 'other' }] })], {
        initContainers: [app('echo set up', { name: 'setup' })],
      }),
    );
    await node.create('crash', pod([app('exit 3')]));
    await node.create('done', pod([app('exit 0')], { restartPolicy: 'Never' }));
    await node.up('shell');
    await node.phase('done', 'Succeeded');
    await node.becomes('crash', 'ended', ({ status }) => {
      const [of] = status?.containerStatuses ?? [];
      return (of?.restartCount ?? 0) > 1 && of?.state?.waiting !== undefined;
    });
  },
  (kubectl) => {
    const inShell = (script: string): string[] => ['exec', kubectl.pod('shell'), '-c', 'app', '--', 'sh', '-c', script];

    test('prints what the command prints', async () => {
      assert.deepEqual(await kubectl.run(...inShell('echo hello')), { code: 0, stdout: 'hello\n', stderr: '' });
    });

    test('keeps standard output and error apart, and its order within each', async () => {
      const { code, stdout, stderr } = await kubectl.run(...inShell('for i in 1 2 3; do echo "out $i"; echo "err $i" >&2; done'));
      assert.deepEqual([code, stdout, stderr], [0, 'out 1\nout 2\nout 3\n', 'err 1\nerr 2\nerr 3\n']);
    });

    for (const [script, exitCode] of [
      ['exit 0', 0],
      ['exit 1', 1],
      ['exit 7', 7],
      ['exit 255', 255],
      ['kill -9 $$', 137],
    ] as const) {
      test(`${script}: ends with ${exitCode}`, async () => {
        const { code, stdout, stderr } = await kubectl.run(...inShell(script));
        const complaint = exitCode === 0 ? '' : `command terminated with exit code ${exitCode}\n`;
        assert.deepEqual([code, stdout, stderr], [exitCode, '', complaint]);
      });
    }

    for (const [what, command] of [
      ['is nowhere on PATH', 'no-such-command'],
      ['does not exist', '/no/such'],
      ['may not be executed', '/etc/passwd'],
      ['is a directory', '/etc'],
    ] as const) {
      test(`a command that ${what} ends with 126 or 127, and it is said why`, async () => {
        const { code, stdout, stderr } = await kubectl.run('exec', kubectl.pod('shell'), '-c', 'app', '--', command);
        assert.ok(code === 126 || code === 127, `${code}`);
        // The engine says it in the command's place.
        assert.match(stdout, new RegExp(`exec: "${command}": .*(not found|no such file|permission denied|is a directory)`));
        assert.equal(stderr, `command terminated with exit code ${code}\n`);
      });
    }

    test('-i passes the input on, to its end', async () => {
      const words = ['exec', '-i', kubectl.pod('shell'), '-c', 'app', '--'];
      assert.equal((await kubectl.runOn('a\nb', ...words, 'cat')).stdout, 'a\nb');
      assert.equal((await kubectl.runOn('', ...words, 'wc', '-c')).stdout, '0\n');
      const megabytes = randomBytes(20 << 20);
      const { stdout } = await kubectl.runOn(megabytes, ...words, 'sha256sum');
      assert.equal(stdout, `${hash('sha256', megabytes)}  -\n`);
    });

    test('-i answers while the input is still open', async (t) => {
      const cat = kubectl.start(t, 'exec', '-i', kubectl.pod('shell'), '-c', 'app', '--', 'cat');
      cat.write('one\n');
      await cat.prints(/^one\n$/);
      cat.write('two\n');
      await cat.prints(/^one\ntwo\n$/);
      cat.end('three');
      assert.deepEqual(await cat.ended(), { code: 0, stdout: 'one\ntwo\nthree', stderr: '' });
    });

    test('a command that does not read its input ends all the same', async () => {
      const words = ['exec', '-i', kubectl.pod('shell'), '-c', 'app', '--'];
      const { code, stdout, stderr } = await kubectl.runOn(Buffer.alloc(20 << 20), ...words, 'sh', '-c', 'exit 4');
      assert.deepEqual([code, stdout], [4, '']);
      // It may add that it could not send all of the input.
      assert.match(stderr, /^command terminated with exit code 4$/m);
      assert.equal((await kubectl.runOn(Buffer.alloc(20 << 20, 'x'), ...words, 'head', '-c', '5')).stdout, 'xxxxx');
    });

    test('without -i the command has an empty input', async () => {
      assert.equal((await kubectl.runOn('not for you', ...inShell('wc -c'))).stdout, '0\n');
    });

    test('30 MB come out whole', async () => {
      const { stdout } = await kubectl.run(...inShell('head -c 30000000 /dev/zero | tr "\\0" x'));
      assert.equal(stdout.length, 30_000_000);
      assert.match(stdout, /^x+$/);
    });

    test('20 at once get their own answers', async () => {
      const runs = Array.from({ length: 20 }, (_, at) => kubectl.run(...inShell(`echo number ${at}; exit ${at}`)));
      for (const [at, { code, stdout }] of (await Promise.all(runs)).entries()) assert.deepEqual([code, stdout], [at, `number ${at}\n`]);
    });

    test('takes the container that is named, and the first one without', async () => {
      assert.equal(await kubectl.prints('exec', kubectl.pod('shell'), '-c', 'other', '--', 'sh', '-c', 'echo "$WHO"'), 'other\n');
      const { code, stderr } = await kubectl.run('exec', kubectl.pod('shell'), '--', 'sh', '-c', 'test -z "$WHO"');
      assert.equal(code, 0);
      assert.match(stderr, /Default/);
    });

    test('a container that does not run, or does not exist, is named', async () => {
      for (const [name, container, words] of [
        ['shell', 'nope', /container (not found|nope is not valid)/],
        ['shell', 'setup', /container not found \("setup"\)/],
        ['crash', 'app', /container not found \("app"\)/],
        ['done', 'app', /cannot exec into a container in a completed pod; current phase is Succeeded/],
      ] as const) {
        const { code, stdout, stderr } = await kubectl.run('exec', kubectl.pod(name), '-c', container, '--', 'true');
        assert.deepEqual([code, stdout], [1, '']);
        assert.match(stderr, words);
      }
    });

    test('-it is a terminal: with its size, which follows the window, an echo, Ctrl-C and an exit code', async (t) => {
      const words = kubectl.words('exec', '-it', kubectl.pod('shell'), '-c', 'app', '--', 'sh');
      const terminal = await terminalOfAShell(t, words);
      await terminal.type('echo "still $((1 + 1))"');
      await terminal.shows(/^still 2$/m);
      await terminal.type('exit 5');
      const screen = await terminal.shows(/^\[5\]$/m);
      assert.match(screen, /^command terminated with exit code 5$/m);
    });
  },
);
