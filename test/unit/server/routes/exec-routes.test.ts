import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { Duplex } from 'node:stream';
import { afterEach, test } from 'node:test';
import { silentLogger } from '../../../../src/base/logger.ts';
import type { StreamsWanted } from '../../../../src/ports/container-access.ts';
import { type ExecDeps, execRoutes } from '../../../../src/server/routes/exec-routes.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { aSandbox, anInstance, anObservedPod, exited } from '../../../builders/an-observed-pod.ts';
import { aSession, servedPods } from '../../../builders/served-pods.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { serveRoutes, type ServedRoutes } from '../../../fakes/served-routes.ts';

let served: ServedRoutes | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

const web = aPod('web', { containers: [aContainer('app'), aContainer('term', { tty: true }), aContainer('dead')] });
const gone = aPod('gone');
const observed = [
  anObservedPod(web, {
    sandboxes: [aSandbox({ attempt: 1 }), aSandbox({ attempt: 0, ready: false })],
    containers: [
      anInstance(web, 'app', { attempt: 2 }),
      anInstance(web, 'app', { attempt: 1, state: exited(1) }),
      anInstance(web, 'term'),
      anInstance(web, 'dead', { state: exited(1) }),
    ],
  }),
];

/** Serves, and keeps what was opened in which container. A served connection is answered 101 and closed. */
async function serve(): Promise<unknown[]> {
  const seen: unknown[] = [];
  const note =
    (what: string) =>
    async (...args: readonly unknown[]) => {
      seen.push([what, ...args.slice(0, -1)]);
      return aSession();
    };
  const switched = (socket: Duplex): void =>
    void socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  const wanted: StreamsWanted = { stdin: false, stdout: true, stderr: true, tty: false };
  const serveSession: ExecDeps['serveExec'] = async ({ signal }, socket, _head, opener) => {
    await opener.open(wanted, signal);
    switched(socket);
  };
  const deps: ExecDeps = {
    served: servedPods([web, gone], {
      observed,
      access: {
        exec: note('exec'),
        attach: note('attach'),
        dial: async (...args) => {
          seen.push(['dial', ...args.slice(0, -1)]);
          return new Duplex();
        },
      },
    }),
    serveExec: serveSession,
    serveAttach: serveSession,
    servePortForward: async ({ signal }, socket, _head, dialler) => {
      await dialler.dial(80, signal);
      switched(socket);
    },
    mostForwarded: 10,
    idleTimeoutMs: 1,
    streamCreationTimeoutMs: 1,
    clock: new FakeClock(),
    log: silentLogger,
  };
  served = await serveRoutes(execRoutes(deps));
  return seen;
}

/** Asks for another protocol; resolves with the status and the body. */
async function upgrade(path: string): Promise<readonly [number | undefined, string]> {
  const sent = request(`${served?.url}${path}`, { method: 'POST', headers: { Connection: 'Upgrade', Upgrade: 'SPDY/3.1' } }).end();
  return await new Promise((resolve, reject) => {
    sent.on('error', reject);
    sent.on('upgrade', (answer, socket) => {
      socket.destroy();
      resolve([answer.statusCode, '']);
    });
    sent.on('response', (answer) => {
      let text = '';
      answer.on('data', (piece) => (text += String(piece)));
      void once(answer, 'end').then(() => resolve([answer.statusCode, text]), reject);
    });
  });
}

test('exec reaches the container that runs, with the command as it was given', async () => {
  const seen = await serve();
  assert.deepEqual(await upgrade('/exec/default/web/app?command=sh&command=-c&command=a%20b&output=1&error=1'), [101, '']);
  assert.deepEqual(seen, [['exec', 'app-2', ['sh', '-c', 'a b'], { stdin: false, stdout: true, stderr: true, tty: false }]]);
});

test('attach has the terminal that the container has', async () => {
  const seen = await serve();
  await upgrade('/attach/default/web/app?output=1&error=1');
  await upgrade('/attach/default/web/term?output=1&error=1');
  assert.deepEqual(seen, [
    ['attach', 'app-2', { stdin: false, stdout: true, stderr: true, tty: false }],
    ['attach', 'term-0', { stdin: false, stdout: true, stderr: false, tty: true }],
  ]);
});

test('port-forward dials into the sandbox that runs', async () => {
  const seen = await serve();
  assert.deepEqual(await upgrade('/portForward/default/web'), [101, '']);
  assert.deepEqual(seen, [['dial', 'sandbox-1', 80]]);
});

test("a uid must be the pod's own or its mirror's", async () => {
  await serve();
  for (const [uid, status] of [
    ['uid-web', 101],
    ['mirror-uid-web', 101],
    ['uid-gone', 404],
  ] as const) {
    assert.equal((await upgrade(`/exec/default/web/${uid}/app?output=1`))[0], status, uid);
    assert.equal((await upgrade(`/attach/default/web/${uid}/app?output=1`))[0], status, uid);
    assert.equal((await upgrade(`/portForward/default/web/${uid}`))[0], status, uid);
  }
});

test('a refusal has its status and words, with an upgrade or without', async () => {
  const seen = await serve();
  const cases: readonly (readonly [string, number, string])[] = [
    ['/exec/default/web/app', 400, 'you must specify at least 1 of stdin, stdout, stderr'],
    ['/exec/default/nobody/app?output=1', 404, 'pod does not exist'],
    ['/exec/other/web/app?output=1', 404, 'pod does not exist'],
    ['/exec/default/web/dead?output=1', 500, 'container not found ("dead")'],
    ['/exec/default/web/nothing?output=1', 500, 'container not found ("nothing")'],
    ['/exec/default/gone/app?output=1', 500, 'container not found ("app")'],
    ['/attach/default/web/dead?output=1', 500, 'container dead not found in pod web_default'],
    ['/attach/default/web/nothing?output=1', 500, 'container nothing not found in pod web_default'],
    ['/portForward/default/gone', 500, 'pod not found ("gone_default")'],
    ['/portForward/default/nobody', 404, 'pod does not exist'],
  ];
  for (const [path, status, text] of cases) {
    assert.deepEqual(await upgrade(path), [status, text], path);
    const plain = await fetch(`${served?.url}${path}`, { method: 'POST' });
    assert.deepEqual([plain.status, await plain.text()], [status, text], path);
  }
  const plain = await fetch(`${served?.url}/exec/default/web/app?output=1`);
  assert.deepEqual([plain.status, await plain.text()], [400, 'Upgrade request required\n']);
  assert.deepEqual(seen, []);
});
