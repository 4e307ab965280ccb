import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { ContainerState, NamespaceMode, PodSandboxState, RuntimeService } from '../../../../../src/engines/cri/api/runtime_pb.js';
import { criAccess } from '../../../../../src/engines/cri/access/cri-access.ts';
import { TimestampedLogs } from '../../../../../src/engines/cri/logs/timestamped-logs.ts';
import type { StreamsWanted } from '../../../../../src/ports/container-access.ts';
import type { ContainerId, SandboxId } from '../../../../../src/ports/container-runtime.ts';
import { execOnce } from '../../../../../src/ports/exec-once.ts';
import { execServer } from '../../../../builders/an-exec-server.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { rpcError, ScriptedCri } from '../../../../fakes/scripted-cri.ts';

const BOTH: StreamsWanted = { stdin: false, stdout: true, stderr: true, tty: false };
const ID = 'c1' as ContainerId;
const { method } = RuntimeService;

/** A runtime with one container, whose processes the test plays. */
async function setUp({
  state = ContainerState.CONTAINER_RUNNING,
  refuse,
}: { readonly state?: ContainerState; readonly refuse?: Error } = {}) {
  const served = await execServer({ idleTimeoutMs: 3_600_000, refuse });
  const clock = new FakeClock();
  const stop = new AbortController();
  const url = ({ stdin, stdout, stderr, tty }: StreamsWanted): string => {
    const asked = Object.entries({ input: stdin, output: stdout, error: stderr, tty }).flatMap(([name, wanted]) =>
      wanted ? [`${name}=1`] : [],
    );
    return `http://127.0.0.1:${served.server.port}/exec?command=x&${asked.join('&')}`;
  };
  const cri = new ScriptedCri()
    .answer(method.containerStatus, ({ containerId }) => {
      if (containerId !== ID) throw rpcError('ContainerStatus', 'NotFound', 'no such thing');
      return { status: { id: containerId, state } };
    })
    .answer(method.exec, (asked) => ({ url: url(asked) }))
    .answer(method.attach, (asked) => ({ url: url(asked) }));
  const access = criAccess({ client: cri, clock, names: new TimestampedLogs(clock) });
  return {
    cri,
    access,
    clock,
    process: served.session,
    signal: stop.signal,
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'));
      access.close();
      await served[Symbol.asyncDispose]();
    },
  };
}

test('a command runs to its end, and its exit code is told', async () => {
  await using at = await setUp();
  const result = execOnce(at.access, ID, ['x'], { clock: at.clock }, at.signal);
  const process = await at.process;
  process.stdout!.write('out');
  process.stderr!.write('err');
  process.exit(4);
  assert.deepEqual(await result, { exitCode: 4, output: 'outerr' });
});

for (const [words, exitCode] of [
  ['exec: "/x": stat /x: no such file or directory: unknown', 127],
  ['exec: "x": executable file not found in $PATH: unknown', 127],
  ['exec: "/etc/passwd": permission denied: unknown', 126],
] as const)
  test(`a command that could not be started ends with ${exitCode} and says why: ${words}`, async () => {
    const why = `failed to start exec "1": OCI runtime exec failed: exec failed: unable to start container process: ${words}`;
    await using at = await setUp({ refuse: new Error(why) });
    const result = await execOnce(at.access, ID, ['x'], { clock: at.clock }, at.signal);
    assert.equal(result.exitCode, exitCode);
    assert.ok(result.output.includes(words), result.output);
  });

test('a checkpoint is asked of the runtime for as long as is wanted, and is refused in a kubelet’s words', async () => {
  await using at = await setUp();
  const checkpoint = (): Promise<void> | undefined => at.access.checkpoint?.(ID, '/a.tar', 7_900, at.signal);
  await assert.rejects(async () => checkpoint(), { message: 'rpc error: code = Unimplemented desc = not scripted' });
  at.cri.answer(method.checkpointContainer, () => ({}));
  await checkpoint();
  assert.deepEqual(at.cri.asked.at(-1), { method: 'CheckpointContainer', input: { containerId: ID, location: '/a.tar', timeout: 7n } });
});

test('trouble of another kind is an error', async () => {
  await using at = await setUp({ refuse: new Error('task abc not found') });
  await assert.rejects(execOnce(at.access, ID, ['x'], { clock: at.clock }, at.signal), /task abc not found/);
});

test('what the runtime is asked for is what it takes, and only what was wanted is given', async () => {
  for (const [wanted, asked] of [
    [
      { stdin: false, stdout: true, stderr: true, tty: true },
      // containerd loses a terminal's output without an input.
      { stdin: true, stdout: true, stderr: false, tty: true },
    ],
    [
      { stdin: false, stdout: false, stderr: false, tty: false },
      { stdin: false, stdout: true, stderr: false, tty: false },
    ],
  ] as const) {
    await using at = await setUp();
    const session = await at.access.exec(ID, ['x'], wanted, at.signal);
    const given = { stdin: session.stdin, stdout: session.stdout, stderr: session.stderr };
    assert.deepEqual(at.cri.asked.at(-1), { method: 'Exec', input: { containerId: ID, cmd: ['x'], ...asked } });
    assert.deepEqual(
      [given.stdin !== undefined, given.stdout !== undefined, given.stderr !== undefined],
      [wanted.stdin, wanted.stdout, false],
    );
    (await at.process).stdout!.write('x'.repeat(1 << 20));
    session.stdout?.resume();
    (await at.process).exit(0);
    assert.equal(await session.ended, 0);
  }
});

test('who wants no more of an output does not hold up the rest', async () => {
  await using at = await setUp();
  const session = await at.access.exec(ID, ['x'], BOTH, at.signal);
  const process = await at.process;
  session.stdout!.destroy();
  process.stdout!.write('x'.repeat(1 << 20));
  process.stderr!.write('err');
  process.exit(0);
  assert.equal(await text(session.stderr!), 'err');
  assert.equal(await session.ended, 0);
});

test('attaching ends without an exit code', async () => {
  await using at = await setUp();
  const session = await at.access.attach(ID, { ...BOTH, stdin: true }, at.signal);
  (await at.process).exit(0);
  assert.equal(await session.ended, undefined);
});

test('what is not there or does not run is refused in words', async () => {
  await using at = await setUp({ state: ContainerState.CONTAINER_EXITED });
  for (const [id, message] of [
    ['c2' as ContainerId, 'Error: No such container: c2'],
    [ID, 'container not running (c1)'],
  ] as const) {
    await assert.rejects(at.access.exec(id, ['x'], BOTH, at.signal), { message });
    await assert.rejects(at.access.attach(id, BOTH, at.signal), { message });
  }
  assert.equal(at.cri.count('Exec'), 0);
});

test('a container that was made without a log path has no logs, which is said', async () => {
  await using at = await setUp();
  await assert.rejects(at.access.logs(ID, { follow: false, timestamps: false }, at.signal)[Symbol.asyncIterator]().next(), {
    message: 'the runtime keeps no log of container c1: it was made without a log path',
  });
});

test("a sandbox on the node's network is dialled there; one that does not run, or whose process nobody knows, is refused in words", async () => {
  await using at = await setUp();
  const app = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
  await once(app, 'listening');
  const { port } = app.address() as AddressInfo;
  const sandbox = (network: NamespaceMode, state: PodSandboxState, info: Record<string, string>) =>
    at.cri.answer(method.podSandboxStatus, ({ podSandboxId }) => ({
      status: { id: podSandboxId, state, linux: { namespaces: { options: { network } } } },
      info,
    }));
  const dial = (): Promise<unknown> => at.access.dial('s1' as SandboxId, port, at.signal);
  sandbox(NamespaceMode.NODE, PodSandboxState.SANDBOX_READY, {});
  const connection = await at.access.dial('s1' as SandboxId, port, at.signal);
  connection.end();
  assert.equal(await text(connection), 'hello');
  sandbox(NamespaceMode.POD, PodSandboxState.SANDBOX_NOTREADY, { info: '{"pid":1}' });
  await assert.rejects(dial(), { message: 'container not running (s1)' });
  for (const info of ['', '{}', '[]', '{"pid":0}', '{"pid":"1"}', '{']) {
    sandbox(NamespaceMode.POD, PodSandboxState.SANDBOX_READY, { info });
    await assert.rejects(dial(), { message: 'cannot reach into sandbox s1: the runtime does not say which process holds its network' });
  }
  at.cri.answer(method.podSandboxStatus, () => {
    throw rpcError('PodSandboxStatus', 'NotFound', 'no such thing');
  });
  await assert.rejects(dial(), { message: 'Error: No such container: s1' });
  await new Promise((done) => app.close(done));
});
