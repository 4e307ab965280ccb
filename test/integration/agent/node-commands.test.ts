import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { terminalOfAShell } from '../../builders/terminal.ts';
import { AgentUnderTest, launcher, NODE } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';

describe('commands on a standalone node', { timeout: 300_000 }, () => {
  const disposals: (() => Promise<void>)[] = [];
  let agent: AgentUnderTest;
  before(async () => {
    agent = await AgentUnderTest.start({ after: (dispose) => void disposals.push(dispose) });
    await agent.declare('web', pod([app(`echo hello; echo oops >&2; ${stays}`), app('while :; do :; done', { name: 'busy' })]));
    await agent.declare('answers', pod([app('mkfifo /pipe; while read -r word </pipe; do echo "said $word"; done')]));
    await agent.declare('job', pod([app('echo done; exit 0')], { restartPolicy: 'Never' }));
    await Promise.all([agent.phase('web', 'Running'), agent.phase('answers', 'Running'), agent.phase('job', 'Succeeded')]);
  });
  after(async () => {
    for (const dispose of disposals) await dispose();
  });

  const words = (command: string, ...args: readonly string[]): readonly string[] => [
    launcher,
    command,
    `--root-dir=${agent.rootDir}`,
    ...args,
  ];
  const start = (command: string, ...args: readonly string[]) => {
    const [program = '', ...rest] = words(command, ...args);
    return spawn(program, rest);
  };
  const run = async (input: string | Buffer, command: string, ...args: readonly string[]) => {
    const child = start(command, ...args);
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    const [[code], stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
    return { code: code as unknown, stdout, stderr };
  };
  /** As the manifest has it; the API's name is longer. */
  const named = (name: string): string => `${agent.prefix}${name}`;

  test('are for the owner of the agent’s files alone', async () => {
    assert.equal((await stat(join(agent.rootDir, 'rxlet.sock'))).mode & 0o777, 0o600);
  });

  test('ps lists the pods', async () => {
    const { code, stdout, stderr } = await run('', 'ps', '-o', 'wide');
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^NAMESPACE +NAME +READY +STATUS +RESTARTS +AGE +IP +SOURCE +UID *$/m);
    assert.match(stdout, new RegExp(`^default +${named('web')}-${NODE} +2/2 +Running +0 +\\S+ +\\S+ +file `, 'm'));
    assert.match(stdout, new RegExp(`^default +${named('job')}-${NODE} +0/1 +Completed +0 `, 'm'));
    const { items } = JSON.parse((await run('', 'ps', '-o', 'json')).stdout) as { items: unknown[] };
    assert.equal(items.length, 3);
  });

  test('logs prints a log, says which container it took, and takes kubectl’s flags', async () => {
    const { code, stdout, stderr } = await run('', 'logs', named('web'));
    assert.deepEqual([code, stdout.split('\n').sort()], [0, ['', 'hello', 'oops']]);
    assert.match(stderr, /"app" out of: app, busy/);
    assert.equal((await run('', 'logs', named('web'), '-c', 'app', '--stream=stderr')).stdout, 'oops\n');
    assert.match((await run('', 'logs', '-t', named('job'))).stdout, /^\d{4}-\S+Z done\n$/);
    assert.equal((await run('', 'logs', `default/${named('job')}-${NODE}`, '--tail=1')).stdout, 'done\n');
    const previous = await run('', 'logs', '-p', named('job'));
    assert.equal(previous.code, 1);
    assert.match(previous.stderr, /previous terminated container "app" in pod ".*" not found/);
  });

  test('logs -f goes on as more is written', async () => {
    const follower = start('logs', '-f', named('answers'));
    try {
      for (const word of ['one', 'two']) {
        const heard = once(follower.stdout, 'data');
        assert.equal((await run('', 'exec', named('answers'), '--', 'sh', '-c', `echo ${word} >/pipe`)).code, 0);
        assert.equal(String((await heard)[0]), `said ${word}\n`);
      }
    } finally {
      follower.kill();
    }
  });

  test('exec runs a command: its outputs apart, its input, its exit code', async () => {
    const web = [named('web'), '-c', 'app'] as const;
    assert.deepEqual(await run('', 'exec', ...web, '--', 'sh', '-c', 'echo out; echo err >&2; exit 7'), {
      code: 7,
      stdout: 'out\n',
      stderr: 'err\n',
    });
    const bytes = Buffer.alloc(10_000_000, 'x');
    assert.equal((await run(bytes, 'exec', '-i', ...web, '--', 'wc', '-c')).stdout, '10000000\n');
    assert.equal((await run('not for you', 'exec', ...web, '--', 'wc', '-c')).stdout, '0\n');
    assert.equal((await run('', 'exec', ...web, '--', 'head', '-c', '10000000', '/dev/zero')).stdout.length, 10_000_000);
    const { code } = await run('', 'exec', ...web, '--', 'no-such-command');
    assert.ok(code === 126 || code === 127, String(code));
  });

  test('exec and logs name what is not there, and exit with 1', async () => {
    for (const [args, complaint] of [
      [['exec', 'nope', '--', 'true'], /pod "nope" is not on this node/],
      [['exec', named('web'), '-c', 'nope', '--', 'true'], /container nope is not in pod .*; it has app, busy/],
      [['exec', named('job'), '--', 'true'], /container not found \("app"\)/],
      [['logs', 'nope'], /pod "nope" is not on this node/],
    ] as const) {
      const { code, stdout, stderr } = await run('', ...(args as readonly [string, ...string[]]));
      assert.deepEqual([code, stdout], [1, ''], args.join(' '));
      assert.match(stderr, complaint);
    }
  });

  test('exec -it is a terminal, whose size follows the window', async (t) => {
    const command = words('exec', '-it', named('web'), '-c', 'app', '--', 'sh');
    const terminal = await terminalOfAShell(t, command);
    await terminal.type('exit 5');
    await terminal.shows(/^\[5\]$/m);
  });

  test('stats shows what pods and containers use', async () => {
    const rows = async (...args: string[]) => (await run('', 'stats', ...args)).stdout;
    const found = await agent.until('the busy pod uses something', async () => {
      const match = new RegExp(`^default +${named('web')}-${NODE} +(\\d+)m +(\\d+)Mi$`, 'm').exec(await rows());
      agent.look();
      return match ?? undefined;
    });
    assert.ok(Number(found[1]) > 10, found[0]);
    assert.match(await rows(named('web')), /^CONTAINER +CPU\(cores\) +MEMORY\(bytes\)\napp +\d+m +\d+Mi\nbusy +\d+m +\d+Mi\n$/);
    const { pods } = JSON.parse(await rows('-o', 'json')) as { pods: unknown[] };
    assert.ok(pods.length >= 2);
  });

  test('without an agent say so', async () => {
    const { code, stderr } = await run('', 'ps', '--root-dir', join(agent.dir, 'elsewhere'));
    assert.equal(code, 1);
    assert.match(stderr, /^error: .*rxlet\.sock/);
  });
});
