import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { InspectedProcess, type Memory } from '../../builders/inspected-process.ts';
import { freePort } from './free-port.ts';

const SOURCES = resolve(import.meta.dirname, '../../..');
const MiB = 1 << 20;
/** So many attack at a time. */
const BATCH = 200;
/** How long all that an attack has left may take to go: refusals, handshakes and headers that never end included. */
const GONE_WITHIN_MS = 90_000;

/** An agent on the embedded engine that may open so many files, alone: so every client is a stranger. */
class AttackedAgent implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #directory: string;
  readonly port: number;
  readonly healthzPort: number;
  readonly #inspected: InspectedProcess;

  private constructor(process: ChildProcess, directory: string, port: number, healthzPort: number, inspected: InspectedProcess) {
    this.#inspected = inspected;
    this.#process = process;
    this.#directory = directory;
    this.port = port;
    this.healthzPort = healthzPort;
  }

  static async start(openFiles: number): Promise<AttackedAgent> {
    const directory = await mkdtemp(join(tmpdir(), 'rxlet-attack-'));
    const port = await freePort();
    const healthzPort = await freePort(port);
    const flags = [
      '--docker-endpoint=fake://',
      `--root-dir=${directory}`,
      `--cert-dir=${directory}/pki`,
      `--port=${port}`,
      `--healthz-port=${healthzPort}`,
      '--address=127.0.0.1',
      '--hostname-override=n1',
    ];
    const command = `ulimit -n ${openFiles} && exec "$@"`;
    const child = spawn('sh', ['-c', command, 'sh', process.execPath, '--inspect=127.0.0.1:0', join(SOURCES, 'src/start.ts'), ...flags], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const lines = createInterface({ input: child.stderr });
    let inspected: InspectedProcess | undefined;
    let serving = 0;
    for await (const line of lines) {
      if (line.startsWith('Debugger listening on ')) inspected = await InspectedProcess.attach(line);
      if (line.includes('"serving"') && ++serving === 3) break;
    }
    child.stderr.resume();
    if (inspected === undefined) throw new Error('the agent has no inspector');
    return new AttackedAgent(child, directory, port, healthzPort, inspected);
  }

  async files(): Promise<number> {
    return (await readdir(`/proc/${this.#process.pid}/fd`)).length;
  }

  async rss(): Promise<number> {
    const [, kB] = /^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${this.#process.pid}/status`, 'utf8')) ?? [];
    return Number(kB) * 1024;
  }

  /** What is left once all garbage is collected. */
  async memory(): Promise<Memory> {
    return this.#inspected.memory();
  }

  /** How long health took to be told. Rejects when it is not. */
  async health(): Promise<number> {
    const begun = performance.now();
    const asked = httpGet({ host: '127.0.0.1', port: this.healthzPort, path: '/healthz', agent: false, timeout: 20_000 });
    asked.on('timeout', () => asked.destroy(new Error('no answer within 20 s')));
    const [response]: IncomingMessage[] = await once(asked, 'response');
    assert.equal(response?.statusCode, 200);
    response.resume();
    return performance.now() - begun;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#inspected.close();
    this.#process.kill('SIGTERM');
    if (this.#process.exitCode === null) await once(this.#process, 'exit');
    await rm(this.#directory, { recursive: true, force: true });
  }
}

const upgrade = (protocol: string, behind: string): string =>
  `GET /exec/default/web/app?command=true&output=1 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n` +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n${behind}`;

/** What a client says, and whether it then ends, reads, or neither. It holds its connection until the test lets go. */
interface Attacker {
  readonly tls: boolean;
  readonly says: string;
  readonly reads: boolean;
  readonly ends: boolean;
}

type Attackers = readonly [Attacker, ...Attacker[]];

const upgrades: Attackers = [
  { tls: true, says: upgrade('websocket', 'x'.repeat(200)), reads: true, ends: false },
  { tls: true, says: upgrade('SPDY/3.1', 'x'.repeat(4_000)), reads: false, ends: true },
  { tls: true, says: upgrade('websocket', 'x'.repeat(4_000)), reads: false, ends: false },
  { tls: true, says: upgrade('SPDY/3.1', 'x'.repeat(200)), reads: true, ends: true },
];

const slow: Attackers = [
  { tls: false, says: '', reads: false, ends: false },
  { tls: false, says: '\x16\x03\x01\x02\x00\x01\x00', reads: false, ends: false },
  { tls: true, says: '', reads: false, ends: false },
  { tls: true, says: `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(30_000)}`, reads: false, ends: false },
  { tls: true, says: 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000), reads: false, ends: false },
  { tls: true, says: `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n`, reads: false, ends: false },
  { tls: true, says: `GET /${'x'.repeat(40_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, reads: false, ends: false },
];

/** Resolves when the client has done its worst: heard the answer, or been cut off, or said all it has to say. */
function attack({ port }: AttackedAgent, { tls, says, reads, ends }: Attacker, held: Set<Socket>): Promise<void> {
  return new Promise((resolveDone) => {
    const options = { host: '127.0.0.1', port, allowHalfOpen: true };
    const socket: Socket = tls ? connectTls({ ...options, rejectUnauthorized: false }) : connectPlain(options);
    const done = (): void => resolveDone();
    held.add(socket);
    socket.on('error', done);
    socket.on('end', done);
    socket.once('close', () => {
      held.delete(socket);
      done();
    });
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      socket.write(says, () => {
        if (ends) socket.end();
        if (!reads) done();
      });
      if (reads) socket.once('data', done).resume();
      else socket.pause();
    });
  });
}

describe('an agent whose port is attacked', { timeout: 570_000 }, () => {
  const disposals = new AsyncDisposableStack();
  let agent: AttackedAgent;
  before(async () => {
    agent = disposals.use(await AttackedAgent.start(150));
    await agent.health();
  });
  after(() => disposals.disposeAsync());

  for (const [what, kinds, attackers] of [
    ['upgrades that it refuses', upgrades, 20_000],
    ['clients that say too little or too much', slow, 2_000],
  ] as const)
    test(`with 150 files to open, tells its health during ${attackers} ${what}, and all that they cost is released`, async (t) => {
      const base = { ...(await agent.memory()), files: await agent.files() };
      const worst = { files: 0, rss: 0, healthMs: 0 };
      const held = new Set<Socket>();
      for (let from = 0; from < attackers; from += BATCH) {
        const batch = Array.from({ length: Math.min(BATCH, attackers - from) }, (_, n) =>
          attack(agent, kinds[n % kinds.length] ?? kinds[0], held),
        );
        const during = agent.health();
        await Promise.all([...batch, during]);
        worst.healthMs = Math.max(worst.healthMs, await during);
        worst.files = Math.max(worst.files, await agent.files());
        worst.rss = Math.max(worst.rss, await agent.rss());
        // Those of the batch before the last never let go by themselves.
        for (const socket of held) if (held.size > 2 * BATCH) socket.destroy();
      }
      for (const socket of held) socket.destroy();
      const begun = performance.now();
      let files = await agent.files();
      while (files > base.files + 3 && performance.now() - begun < GONE_WITHIN_MS) files = await agent.files();
      const goneMs = Math.round(performance.now() - begun);
      const { rss, alive } = await agent.memory();
      t.diagnostic(`files ${base.files}, at most ${worst.files}, ${files} after ${goneMs} ms`);
      t.diagnostic(
        `RSS ${Math.round(base.rss / MiB)}, at most ${Math.round(worst.rss / MiB)}, then ${Math.round(rss / MiB)} MiB; alive ${Math.round(base.alive / MiB)}, then ${Math.round(alive / MiB)} MiB`,
      );
      t.diagnostic(`health within ${Math.round(worst.healthMs)} ms`);
      assert.ok(files <= base.files + 3, `${files} files are open, ${base.files} were`);
      assert.ok(alive < base.alive + 10 * MiB, `${Math.round((alive - base.alive) / MiB)} MiB more are in use`);
      assert.ok(rss < base.rss + 100 * MiB, `${Math.round((rss - base.rss) / MiB)} MiB more are taken from the system`);
    });
});
