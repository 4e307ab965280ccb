import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import type { ContainerAccess, ContainerSession, LogOptions, StreamsWanted } from '../../src/ports/container-access.ts';
import type { ContainerId, SandboxId } from '../../src/ports/container-runtime.ts';
import { execOnce } from '../../src/ports/exec-once.ts';
import { systemClock } from '../../src/base/clock.ts';
import { keepsApart } from '../builders/many-connections.ts';
import { DEAF, type RuntimeWorld, UNKNOWN } from './runtime-world.ts';

const BOTH: StreamsWanted = { stdin: false, stdout: true, stderr: true, tty: false };
const ALL: LogOptions = { follow: false, timestamps: false };

const outputOf = (stream: Readable | undefined): Promise<string> => (stream ? text(stream) : Promise.resolve(''));

/** Reads a session to its end. */
async function whole({ stdout, stderr, ended }: ContainerSession): Promise<readonly [string, string, number | undefined]> {
  return Promise.all([outputOf(stdout), outputOf(stderr), ended]);
}

/** What reaching into containers promises. */
export function accessContract(world: () => RuntimeWorld, access: () => ContainerAccess): void {
  const logged = async (id: ContainerId, over: Partial<LogOptions> = {}, signal = world().signal) => {
    const written = { stdout: '', stderr: '', both: '' };
    for await (const { stream, bytes } of access().logs(id, { ...ALL, ...over }, signal)) {
      written[stream] += Buffer.from(bytes).toString();
      written.both += Buffer.from(bytes).toString();
    }
    return written;
  };
  const lived = async (script: string): Promise<ContainerId> => {
    const { pod, id } = await world().run(script);
    await world().ended(pod, id);
    return id;
  };

  describe('exec', () => {
    test('gives both outputs apart, and the exit code', async () => {
      const { id } = await world().run(DEAF);
      const session = await access().exec(id, ['sh', '-c', 'echo out; echo err >&2; exit 3'], BOTH, world().signal);
      assert.equal(session.stdin, undefined);
      assert.deepEqual(await whole(session), ['out\n', 'err\n', 3]);
    });

    test('gives only the outputs that are wanted', async () => {
      const { id } = await world().run(DEAF);
      const session = await access().exec(id, ['sh', '-c', 'echo out; echo err >&2'], { ...BOTH, stderr: false }, world().signal);
      assert.equal(session.stderr, undefined);
      assert.deepEqual(await whole(session), ['out\n', '', 0]);
    });

    test('gives the input to the process, and its end', async () => {
      const { id } = await world().run(DEAF);
      const session = await access().exec(id, ['cat'], { ...BOTH, stdin: true }, world().signal);
      session.stdin?.write('one\n');
      session.stdin?.end('two\n');
      assert.deepEqual(await whole(session), ['one\ntwo\n', '', 0]);
    });

    test('closes the input of a process that has ended, without an error', async () => {
      const { id } = await world().run(DEAF);
      const session = await access().exec(id, ['true'], { ...BOTH, stdin: true }, world().signal);
      const closed = new Promise<void>((resolve) => session.stdin?.once('close', resolve));
      assert.deepEqual(await whole(session), ['', '', 0]);
      await closed;
    });

    test('with a terminal joins the outputs, and takes sizes also when it is late', async () => {
      const { id } = await world().run(DEAF);
      const session = await access().exec(id, ['sh', '-c', 'echo out; echo err >&2'], { ...BOTH, tty: true }, world().signal);
      await session.resize({ width: 100, height: 30 });
      const [stdout, stderr, exitCode] = await whole(session);
      assert.deepEqual([stdout.replaceAll('\r', ''), stderr, exitCode], ['out\nerr\n', '', 0]);
      await session.resize({ width: 80, height: 24 });
    });

    test('knows the environment of the container', async () => {
      const { id } = await world().run(DEAF, { env: [{ name: 'GREETING', value: 'hello' }] });
      const result = await execOnce(access(), id, ['sh', '-c', 'echo $GREETING'], { clock: systemClock }, world().signal);
      assert.deepEqual(result, { exitCode: 0, output: 'hello\n' });
    });

    test('of a command that does not exist tells so in its output, and ends with 126 or 127', async () => {
      const { id } = await world().run(DEAF);
      const { exitCode, output } = await execOnce(access(), id, ['/nonexistent'], { clock: systemClock }, world().signal);
      assert.ok(exitCode === 126 || exitCode === 127, String(exitCode));
      assert.match(output, /exec failed.*no such file or directory/);
    });

    test('ends with an abort, for both sides of the session', async () => {
      const { id } = await world().run(DEAF);
      const gone = new AbortController();
      const session = await access().exec(id, ['sleep', '100'], { ...BOTH, stdin: true }, gone.signal);
      const closed = [session.stdout, session.stderr, session.stdin].map((s) => new Promise<void>((resolve) => s?.once('close', resolve)));
      const reason = new Error('the client has gone');
      gone.abort(reason);
      await assert.rejects(session.ended, (error) => error === reason);
      await Promise.all(closed);
    });

    test('into what is not there or does not run is refused in words', async () => {
      const dead = await lived('exit 0');
      for (const [id, words] of [
        [UNKNOWN as ContainerId, `Error: No such container: ${UNKNOWN}`],
        [dead, `container not running (${dead})`],
      ] as const) {
        await assert.rejects(access().exec(id, ['true'], BOTH, world().signal), { message: words });
        await assert.rejects(access().attach(id, BOTH, world().signal), { message: words });
      }
    });
  });

  describe('attach', () => {
    /** A container that repeats its input. */
    const repeating = async (stdinOnce: boolean): Promise<Awaited<ReturnType<RuntimeWorld['run']>>> => {
      const container = world().shell('app', '', { command: ['cat'], stdin: true, stdinOnce });
      const pod = world().pod([container]);
      const sandbox = await world().runSandbox(pod);
      return { pod, sandbox, id: await world().start(pod, sandbox, container) };
    };

    test('joins the first process, whose input ends with the first who gave some where it is open once', async () => {
      const { pod, id } = await repeating(true);
      const session = await access().attach(id, { ...BOTH, stdin: true }, world().signal);
      session.stdin?.end('hello\n');
      assert.deepEqual(await whole(session), ['hello\n', '', undefined]);
      assert.equal((await world().ended(pod, id)).exitCode, 0);
      assert.equal((await logged(id)).stdout, 'hello\n');
    });

    test('leaves the process alone when it detaches, where its input stays open', async () => {
      const { pod, id } = await repeating(false);
      const gone = new AbortController();
      const session = await access().attach(id, { ...BOTH, stdin: true }, gone.signal);
      session.stdin?.write('hello\n');
      const first = await new Promise<string>((resolve) => session.stdout?.once('data', (bytes) => resolve(String(bytes))));
      assert.equal(first, 'hello\n');
      gone.abort(new Error('gone'));
      await assert.rejects(session.ended, /gone/);
      if (world().facts.keepsInputOpen) assert.equal((await world().container(pod, id)).state.phase, 'running');
      else assert.equal((await world().ended(pod, id)).exitCode, 0);
    });

    test('leaves the process alone when who only listened detaches', async () => {
      const { pod, id } = await repeating(true);
      const gone = new AbortController();
      const listening = await access().attach(id, BOTH, gone.signal);
      gone.abort(new Error('gone'));
      await assert.rejects(listening.ended, /gone/);
      const session = await access().attach(id, { ...BOTH, stdin: true }, world().signal);
      session.stdin?.end('hello\n');
      assert.deepEqual(await whole(session), ['hello\n', '', undefined]);
      assert.equal((await world().ended(pod, id)).exitCode, 0);
    });
  });

  describe('logs', () => {
    const SCRIPT = 'echo one; sleep 0.2; echo two >&2; sleep 0.2; echo three; sleep 0.2; echo four';

    test('give what a dead container has written, each stream apart', async () => {
      const id = await lived(SCRIPT);
      assert.deepEqual(await logged(id), { stdout: 'one\nthree\nfour\n', stderr: 'two\n', both: 'one\ntwo\nthree\nfour\n' });
    });

    for (const [what, over, expected] of [
      ['the last lines', { tailLines: 2 }, 'three\nfour\n'],
      ['no line', { tailLines: 0 }, ''],
      ['as many bytes', { limitBytes: 6 }, 'one\ntw'],
      ['one stream', { stream: 'Stderr' }, 'two\n'],
      ['the other stream', { stream: 'Stdout' }, 'one\nthree\nfour\n'],
      ['nothing from the future', { sinceMs: Date.parse('2200-01-01T00:00:00Z') }, ''],
    ] as const)
      test(`give ${what} when that is asked for`, async () => {
        assert.equal((await logged(await lived(SCRIPT), over)).both, expected);
      });

    test('give each line its time, with nine digits', async () => {
      const lines = (await logged(await lived('echo one; echo two'), { timestamps: true })).both.split('\n');
      assert.match(lines[0] ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z one$/);
      assert.match(lines[1] ?? '', / two$/);
    });

    test('of a container that has written nothing are empty', async () => {
      assert.equal((await logged(await lived('exit 0'))).both, '');
    });

    test('are followed to the end of the container', async () => {
      const { id } = await world().run('echo one; sleep 1; echo two');
      assert.equal((await logged(id, { follow: true })).both, 'one\ntwo\n');
    });

    test('are followed until an abort, which is no error', async () => {
      const { id } = await world().run(`echo one; ${DEAF}`);
      const gone = new AbortController();
      let seen = '';
      for await (const { bytes } of access().logs(id, { ...ALL, follow: true }, gone.signal)) {
        seen += Buffer.from(bytes).toString();
        gone.abort();
      }
      assert.equal(seen, 'one\n');
    });

    test('of what is not there are refused in words', async () => {
      await assert.rejects(logged(UNKNOWN as ContainerId), { message: `Error: No such container: ${UNKNOWN}` });
    });
  });

  describe('dial', () => {
    /** A sandbox in which port 7 answers. */
    const answering = async (server: string): Promise<SandboxId> => {
      const container = world().shell('server', server);
      const pod = world().pod([container]);
      const sandbox = await world().runSandbox(pod);
      const id = await world().start(pod, sandbox, container);
      // Its kernel tells when it listens.
      const listens = 'until grep -q ":0007 .* 0A " /proc/net/tcp /proc/net/tcp6; do sleep 0.1; done';
      assert.equal((await execOnce(access(), id, ['sh', '-c', listens], { clock: systemClock }, world().signal)).exitCode, 0);
      return sandbox;
    };

    test('connects to a port in the sandbox, and each end may close its half', async () => {
      const connection = await access().dial(await answering('nc -ll -p 7 -e cat'), 7, world().signal);
      connection.end('hello\n');
      assert.equal(await text(connection), 'hello\n');
    });

    test('keeps a hundred connections apart that are open at once', async () => {
      const sandbox = await answering('nc -ll -p 7 -e cat');
      await keepsApart(100, () => access().dial(sandbox, 7, world().signal), world().signal);
    });

    test('is refused where nobody listens, and by sandboxes that are not there or dead', async () => {
      const pod = world().pod();
      const sandbox = await world().runSandbox(pod);
      await assert.rejects(access().dial(sandbox, 81, world().signal), { message: 'dial tcp 127.0.0.1:81: connect: connection refused' });
      await assert.rejects(access().dial(UNKNOWN as SandboxId, 81, world().signal), { message: `Error: No such container: ${UNKNOWN}` });
      await world().runtime.stopSandbox(sandbox, world().signal);
      await assert.rejects(access().dial(sandbox, 81, world().signal), { message: `container not running (${sandbox})` });
    });
  });
}
