import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { afterEach, beforeEach, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { CommandInput, CommandOutput } from '../../../src/cli/command-io.ts';
import { type NodeCommand, runNodeCommand } from '../../../src/cli/node-commands.ts';
import type { ContainerAccess, LogOptions, StreamsWanted, TerminalSize } from '../../../src/ports/container-access.ts';
import { containerLogRoutes } from '../../../src/server/routes/container-log-routes.ts';
import { execRoutes } from '../../../src/server/routes/exec-routes.ts';
import { podRoutes } from '../../../src/server/routes/pod-routes.ts';
import { summaryRoutes } from '../../../src/stats/summary-routes.ts';
import { servePortForward } from '../../../src/server/streaming/serve-port-forward.ts';
import { serveAttach, serveExec } from '../../../src/server/streaming/serve-remote-command.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { aSandbox, anInstance, anObservedPod } from '../../builders/an-observed-pod.ts';
import { aSession, servedPods } from '../../builders/served-pods.ts';
import { serveRoutes, type ServedRoutes } from '../../fakes/served-routes.ts';

let root: string;
let served: ServedRoutes | undefined;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'rxlet-cli-'));
});
afterEach(async () => {
  await served?.close();
  served = undefined;
  rmSync(root, { recursive: true });
});

/** C1's own CSI and OSC, which terminals obey as they do those that begin with an escape; and a turn of the text's direction. */
const hostile = 'a\u009b2Jb\u009d0;c\u009cd\u202ee\u{e0001}f';
const NOW = Date.parse('2026-01-02T03:00:00Z');
const web = {
  ...aPod(
    'web-n1',
    { nodeName: 'n1', containers: [aContainer('app'), aContainer('log')] },
    { annotations: { 'kubernetes.io/config.source': 'file', hostile } },
  ),
  status: {
    phase: 'Running',
    podIP: '10.0.0.2',
    startTime: '2026-01-02T02:00:00Z',
    containerStatuses: ['app', 'log'].map((name) => ({
      name,
      image: '',
      imageID: '',
      ready: true,
      restartCount: 0,
      containerID: `docker://${name}`,
      state: { running: {} },
    })),
  },
};
const dns = { ...aPod('dns', {}, { namespace: 'kube-system', creationTimestamp: '2026-01-01T03:00:00Z' }), status: { phase: 'Pending' } };
const usage = (cpu: number, memory: number): object => ({ cpu: { usageNanoCores: cpu }, memory: { workingSetBytes: memory } });
const summary = {
  node: { nodeName: 'n1' },
  pods: [
    {
      podRef: { name: 'web-n1', namespace: 'default', uid: 'x' },
      containers: [
        { name: 'log', ...usage(1_000_000, 1 << 20) },
        { name: 'app', ...usage(11_000_001, 32 << 20) },
      ],
    },
    { podRef: { name: 'dns', namespace: 'kube-system', uid: 'y' }, ...usage(5_000_000, 3 << 20) },
  ],
};

async function serve(access: Partial<ContainerAccess> = {}): Promise<void> {
  const observed = [anObservedPod(web, { sandboxes: [aSandbox()], containers: [anInstance(web, 'app'), anInstance(web, 'log')] })];
  const pods = servedPods([web, dns], { observed, access });
  const times = { idleTimeoutMs: 0, streamCreationTimeoutMs: 30_000, clock: systemClock, log: silentLogger };
  const routes = [
    ...podRoutes(pods),
    ...containerLogRoutes({ served: pods, clock: systemClock, splitStreams: false }),
    ...summaryRoutes({ summary: async () => summary }),
    ...execRoutes({ served: pods, serveExec, serveAttach, servePortForward, mostForwarded: 10, ...times }),
  ];
  served = await serveRoutes(routes, join(root, 'rxlet.sock'));
}

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function say(
  name: NodeCommand,
  argv: readonly string[],
  { stdin = Readable.from([]), terminal = {} }: { stdin?: CommandInput; terminal?: Partial<CommandOutput> } = {},
): Promise<Said> {
  const [stdout, stderr] = [Object.assign(new PassThrough(), terminal), new PassThrough()];
  const out = readAll(stdout);
  const err = readAll(stderr);
  const code = await runNodeCommand(name, argv, { stdin, stdout, stderr, nowMs: () => NOW, plain: false }, root);
  stdout.end();
  stderr.end();
  return { code, out: await out, err: await err };
}

test('ps lists the pods of the node as kubectl would', async () => {
  await serve();
  assert.deepEqual(await say('ps', []), {
    code: 0,
    out: [
      'NAMESPACE     NAME     READY   STATUS    RESTARTS   AGE',
      'default       web-n1   2/2     Running   0          60m',
      'kube-system   dns      0/1     Pending   0          24h',
      '',
    ].join('\n'),
    err: '',
  });
  assert.match(
    (await say('ps', ['-n', 'default', '-o', 'wide'])).out,
    /^NAMESPACE .* IP +SOURCE +UID\ndefault .* 10\.0\.0\.2 +file +uid-web-n1\n$/,
  );
  assert.equal((await say('ps', ['-n', 'nowhere'])).out, 'No pods in namespace nowhere on this node.\n');
  const list: unknown = JSON.parse((await say('ps', ['-o=json'])).out);
  assert(typeof list === 'object' && list !== null && 'items' in list && Array.isArray(list.items));
  assert.equal(list.items.length, 2);
});

test('what a pod says of itself steers no terminal, and JSON says the same', async () => {
  await serve();
  for (const output of [['-o=json'], ['-o=wide']]) {
    const { out } = await say('ps', output);
    assert.doesNotMatch(out.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u);
  }
  const { items } = JSON.parse((await say('ps', ['-o=json'])).out) as { items: readonly { metadata: { annotations: object } }[] };
  assert.deepEqual(items[0]?.metadata.annotations, web.metadata.annotations);
});

test('ps is coloured on a terminal only', async () => {
  await serve();
  assert((await say('ps', [], { terminal: { isTTY: true } })).out.includes('\u001b[33mPending\u001b[0m'));
});

test('logs prints what the container wrote, asked for as the flags say', async () => {
  const asked: [string, LogOptions][] = [];
  await serve({
    async *logs(id, options) {
      asked.push([id, options]);
      yield { stream: 'stdout', bytes: Buffer.from(`${id} said\n`) };
    },
  });
  assert.deepEqual(await say('logs', ['web', 'log']), { code: 0, out: 'log said\n', err: '' });
  const note = 'Defaulted container "app" out of: app, log\n';
  assert.deepEqual(await say('logs', ['-ft', '--tail=3', '--limit-bytes', '9', 'default/web']), { code: 0, out: 'app said\n', err: note });
  await say('logs', ['web', '-c', 'log', '--tail=-1', '--since-time=2026-01-02T02:00:00Z']);
  assert.deepEqual(asked, [
    ['log', { follow: false, timestamps: false }],
    ['app', { follow: true, timestamps: true, tailLines: 3, limitBytes: 9 }],
    ['log', { follow: false, timestamps: false, sinceMs: Date.parse('2026-01-02T02:00:00Z') }],
  ]);
});

test('what the agent refuses is said in its words', async () => {
  await serve();
  assert.deepEqual(await say('logs', ['dns']), { code: 1, out: '', err: 'error: container "app" in pod "dns" is not available\n' });
  assert.deepEqual(await say('logs', ['web', 'app', '--since-time=never']), { code: 1, out: '', err: 'error: Unable to decode query.\n' });
  assert.deepEqual(await say('exec', ['kube-system/dns', '--', 'ls']), { code: 1, out: '', err: 'error: container not found ("app")\n' });
});

test('exec joins the command with the terminal: input, both outputs, exit code', async () => {
  const seen: unknown[] = [];
  await serve({
    exec: async (id, command, wanted) => {
      seen.push([id, command, wanted]);
      const stdin = new PassThrough();
      const stdout = new PassThrough();
      const input = readAll(stdin);
      const ended = input.then((text) => {
        stdout.end(text.toUpperCase());
        return 42;
      });
      return aSession({ stdin, stdout, stderr: Readable.from([Buffer.from('oh\n')]), ended });
    },
  });
  const stdin = Readable.from([Buffer.from('x'.repeat(200_000)), Buffer.from('\n')]);
  const { code, out, err } = await say('exec', ['-i', 'web', '-c', 'app', '--', 'tr', 'a-z', 'A-Z'], { stdin });
  assert.equal(code, 42);
  assert.equal(out, `${'X'.repeat(200_000)}\n`);
  assert.equal(err, 'oh\n');
  const wanted: StreamsWanted = { stdin: true, stdout: true, stderr: true, tty: false };
  assert.deepEqual(seen, [['app-0', ['tr', 'a-z', 'A-Z'], wanted]]);
});

test('exec in a terminal: raw while it lasts, and as big as the window', async () => {
  const sizes: TerminalSize[] = [];
  const sized = Promise.withResolvers<void>();
  await serve({
    exec: async (_id, _command, wanted) => {
      assert.deepEqual(wanted, { stdin: true, stdout: true, stderr: false, tty: true });
      const stdout = new PassThrough();
      return aSession({
        stdin: new PassThrough(),
        stdout,
        ended: sized.promise.then(() => {
          stdout.end('$ ');
          return 0;
        }),
        resize: async (size) => {
          sizes.push(size);
          if (sizes.length === 2) sized.resolve();
        },
      });
    },
  });
  const raw: boolean[] = [];
  const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (on: boolean) => raw.push(on) });
  const running = runNodeCommand(
    'exec',
    ['-itq', 'web', '--', 'sh'],
    { stdin, stdout: terminal, stderr: new PassThrough(), nowMs: () => NOW, plain: false },
    root,
  );
  while (sizes.length === 0) await new Promise((resolve) => setImmediate(resolve));
  terminal.columns = 100;
  terminal.emit('resize');
  assert.equal(await running, 0);
  assert.equal(String(terminal.read()), '$ ');
  assert.deepEqual(sizes, [
    { width: 80, height: 24 },
    { width: 100, height: 24 },
  ]);
  assert.deepEqual(raw, [true, false]);
  assert.equal(terminal.listenerCount('resize'), 0);
  assert(stdin.destroyed);
});

test('exec says why a command could not be run', async () => {
  await serve({ exec: () => Promise.reject(new Error('no such file: nope')) });
  const { code, err } = await say('exec', ['web', 'app', '--', 'nope']);
  assert.equal(code, 2);
  assert.match(err, /^error: "app" is neither the pod nor/);
  assert.match((await say('exec', ['-q', 'web', '--', 'nope'])).err, /^error: .*no such file: nope\n$/);
});

test('stats shows what pods use, or the containers of one', async () => {
  await serve();
  assert.equal(
    (await say('stats', [])).out,
    [
      'NAMESPACE     NAME     CPU(cores)   MEMORY(bytes)',
      'default       web-n1   13m          33Mi',
      'kube-system   dns      5m           3Mi',
      '',
    ].join('\n'),
  );
  assert.equal(
    (await say('stats', ['web'])).out,
    ['CONTAINER   CPU(cores)   MEMORY(bytes)', 'app         12m          32Mi', 'log         1m           1Mi', ''].join('\n'),
  );
  assert.deepEqual(JSON.parse((await say('stats', ['-o', 'json'])).out), summary);
});

test('when there is no agent it says where it looked, and what may help', async () => {
  const { code, err } = await say('ps', []);
  assert.equal(code, 1);
  assert.equal(err, `error: no agent at ${root}/rxlet.sock: is rxlet running? --root-dir or --socket says where its socket is\n`);
  writeFileSync(join(root, 'file'), '');
  assert.match((await say('ps', ['--socket', join(root, 'file')])).err, /^error: no answer at .*\/file: rxlet is not running any more\n$/);
});

test('another program on the socket is told from an agent', async () => {
  const server = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]'));
  server.listen(join(root, 'other.sock'));
  assert.deepEqual(await say('ps', [`--socket=${root}/other.sock`]), {
    code: 1,
    out: '',
    err: "error: the agent's answer is not a list of pods\n",
  });
  server.close();
});

test('a wrong command line is told, with exit code 2; help with 0', async () => {
  const cases: readonly (readonly [NodeCommand, readonly string[], RegExp])[] = [
    ['ps', ['web'], /ps takes no arguments/],
    ['ps', ['-o', 'yaml'], /-o is wide or json, not yaml/],
    ['logs', [], /which pod\?/],
    ['logs', ['a', 'b', '-c', 'c'], /one pod and one container/],
    ['logs', ['a', '--tail=x'], /--tail is a whole number/],
    ['logs', ['a', '--since=5'], /--since is a duration/],
    ['logs', ['a', '--stream=both'], /--stream is stdout or stderr/],
    ['exec', ['web'], /which command\? It goes after two dashes: rxlet exec web -- COMMAND/],
    ['exec', ['web', 'ls'], /rxlet exec web -- ls/],
    ['stats', ['a', 'b'], /one pod at a time/],
    ['stats', ['--root-dir'], /--root-dir needs a value/],
  ];
  for (const [name, argv, message] of cases) {
    const { code, err } = await say(name, argv);
    assert.equal(code, 2, argv.join(' '));
    assert.match(err, message);
    assert.match(err, new RegExp(`See 'rxlet ${name} --help'`));
  }
  for (const name of ['ps', 'logs', 'exec', 'stats'] as const) {
    const { code, out } = await say(name, ['--help']);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`^Usage: rxlet ${name} `));
  }
});
