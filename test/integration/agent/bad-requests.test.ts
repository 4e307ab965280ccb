import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get, request } from 'node:https';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { FrameType, controlFrame, dataFrameHead } from '../../../src/base/spdy/spdy-frame.ts';
import { connectSpdy, spdyHeaders, upgrade } from '../../builders/upgrade.ts';
import { AgentUnderTest, NODE } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';

const MiB = 1 << 20;

/** Resolves when the connection is over, well or not. */
const closed = (socket: Duplex): Promise<void> =>
  socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', () => resolve()));

const webSocketHeaders = (over: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Protocol': 'v5.channel.k8s.io',
  ...over,
});

describe('bad requests to a running agent', { timeout: 300_000 }, () => {
  const disposals: (() => Promise<void>)[] = [];
  let agent: AgentUnderTest;
  before(async () => {
    // Whoever comes: so that all that comes is handled.
    const open = ['--anonymous-auth=true', '--authorization-mode=AlwaysAllow'];
    // What chatty writes is all there, also once the engine has written all of it: it removes the oldest of what is more than it may keep.
    const logs = '--container-log-max-size=100Mi';
    agent = await AgentUnderTest.start({ after: (dispose) => void disposals.push(dispose) }, ...open, logs);
    await agent.declare('web', pod([app(`echo hello; ${stays}`)]));
    await agent.declare('job', pod([app('echo done; exit 0')], { restartPolicy: 'Never' }));
    await agent.declare('chatty', pod([app('yes "a line that is written again and again and again" | head -c 40000000; sleep 1000')]));
    await Promise.all([agent.phase('web', 'Running'), agent.phase('chatty', 'Running'), agent.phase('job', 'Succeeded')]);
    await agent.logged('it serves', ({ msg, listener }) => msg === 'serving' && listener === 'https');
    assert.equal((await fetched('/healthz')).status, 200);
  });
  after(async () => {
    for (const dispose of disposals) await dispose();
  });

  const where = (path: string, method = 'GET') => ({ host: '127.0.0.1', port: agent.port, rejectUnauthorized: false, path, method });
  const container = (name: string, of = 'app'): string => `default/${agent.pod(name)}/${of}`;
  const fetched = async (path: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> => {
    const asked = get({ ...where(path), headers, agent: false });
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    return { status: response.statusCode ?? 0, body: await text(response) };
  };
  const connected = async (): Promise<TLSSocket> => {
    const socket = connect({ host: '127.0.0.1', port: agent.port, rejectUnauthorized: false });
    socket.on('error', () => socket.destroy());
    await once(socket, 'secureConnect');
    return socket;
  };
  /** Writes these bytes, and resolves with what comes until the server closes. */
  const said = async (bytes: string | Buffer): Promise<string> => {
    const socket = await connected();
    let answer = '';
    socket.on('data', (piece: Buffer) => (answer += piece.toString('latin1')));
    socket.write(bytes);
    await closed(socket);
    return answer;
  };
  const rss = async (): Promise<number> => {
    const [, kB] = /^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${agent.pid}/status`, 'utf8')) ?? [];
    return Number(kB) * 1024;
  };
  const openFiles = async (): Promise<number> => (await readdir(`/proc/${agent.pid}/fd`)).length;
  /** What every test ends with. */
  const lives = async (): Promise<void> => {
    assert.equal((await fetched('/healthz')).body, 'ok');
    assert.match((await fetched(`/containerLogs/${container('web')}`)).body, /^hello\n$/);
    assert.deepEqual(agent.output, []);
    assert.deepEqual(
      agent.lines.filter(({ level }) => level === 'error'),
      [],
    );
  };

  for (const [what, path, status, words] of [
    ['a path that is none', '/nope', 404, /not found/],
    ['a pod that is not here', '/containerLogs/default/nope/app', 404, /pod "nope" does not exist/],
    [
      'a container that is not in the pod',
      (): string => `/containerLogs/${container('web', 'nope')}`,
      404,
      /container "nope" not found in pod/,
    ],
    ['options that make no sense', (): string => `/containerLogs/${container('web')}?tailLines=-1`, 422, /Invalid request/],
    ['options that are none', (): string => `/containerLogs/${container('web')}?sinceTime=yesterday`, 400, /Unable to decode query/],
    ['a broken escape', '/containerLogs/%zz/a/b', 400, /./],
    ['a way out of the directory of logs', '/logs/../../etc/passwd', 301, /./],
    ['the same in disguise', '/logs/%2e%2e/%2e%2e/etc/passwd', 301, /./],
    ['an exec that is no upgrade', (): string => `/exec/${container('web')}?command=true&output=1`, 400, /Upgrade request required/],
  ] as const) {
    test(`${what}: ${status}`, async () => {
      const answer = await fetched(typeof path === 'string' ? path : path());
      assert.equal(answer.status, status, answer.body);
      assert.match(answer.body, words);
      assert.doesNotMatch(answer.body, /root:|at .*\.(js|ts):/);
      await lives();
    });
  }

  for (const [what, path, status, words] of [
    ['exec in an unknown pod', '/exec/default/nope/app?command=true&output=1', 404, /pod does not exist/],
    [
      'exec in an unknown container',
      (): string => `/exec/${container('web', 'nope')}?command=true&output=1`,
      500,
      /container not found \("nope"\)/,
    ],
    [
      'exec in a container that has ended',
      (): string => `/exec/${container('job')}?command=true&output=1`,
      500,
      /container not found \("app"\)/,
    ],
    ['exec without any stream', (): string => `/exec/${container('web')}?command=true`, 400, /at least 1 of stdin, stdout, stderr/],
    ['attach to a container that has ended', (): string => `/attach/${container('job')}?output=1`, 500, /container app not found in pod/],
  ] as const) {
    test(`${what}: ${status}, over SPDY and WebSockets`, async () => {
      for (const headers of [spdyHeaders('v4.channel.k8s.io', 'portforward.k8s.io'), webSocketHeaders()]) {
        const answer = await upgrade({ ...where(typeof path === 'string' ? path : path(), 'POST'), headers }, request);
        answer.socket?.destroy();
        assert.equal(answer.status, status, answer.body);
        assert.match(answer.body, words);
      }
      await lives();
    });
  }

  test('a port of a pod that has ended is said not to be there', async () => {
    const client = await connectSpdy(where(`/portForward/default/${agent.pod('job')}`, 'POST'), ['portforward.k8s.io'], request);
    const headers = { port: '80', requestid: '0' };
    const [error, data] = [await client.open({ ...headers, streamtype: 'error' }), await client.open({ ...headers, streamtype: 'data' })];
    assert.match(await error.text(), /^error forwarding port 80 to pod [0-9a-f]{64}, uid : container not running/);
    assert.equal(await data.text(), '');
    await client.close();
    await lives();
  });

  test('malformed upgrades are refused', async () => {
    const path = `/exec/${container('web')}?command=true&output=1`;
    const head = (...lines: string[]): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
    const webSocket = (over: Record<string, string>): string =>
      head(...Object.entries(webSocketHeaders(over)).map(([name, value]) => `${name}: ${value}`));
    for (const [what, asked] of [
      ['another protocol', head('Connection: Upgrade, close', 'Upgrade: carrier-pigeon')],
      ['SPDY without a protocol of ours', head('Connection: Upgrade, close', 'Upgrade: SPDY/3.1', 'X-Stream-Protocol-Version: v9')],
      ['a WebSocket without a key', webSocket({ 'Sec-WebSocket-Key': '' })],
      ['a WebSocket of an old version', webSocket({ 'Sec-WebSocket-Version': '8' })],
      ['a WebSocket without a protocol of ours', webSocket({ 'Sec-WebSocket-Protocol': 'chat' })],
      ['headers over any bound', head(`X-Big: ${'x'.repeat(2 * MiB)}`)],
      ['no HTTP', 'hello there\r\n\r\n'],
      ['no text', randomBytes(1000)],
      ['half a request that ends', `GET ${path} HTTP/1.1\r\nHost`],
    ] as const) {
      const socket = await connected();
      const answer: Buffer[] = [];
      socket.on('data', (piece: Buffer) => answer.push(piece));
      socket.end(asked);
      await closed(socket);
      const status = Buffer.concat(answer).toString('latin1').split('\r\n')[0];
      assert.match(status ?? '', /^(HTTP\/1\.1 4\d\d .*)?$/, what);
    }
    await lives();
  });

  test('SPDY frames that are nonsense, or cut anywhere, close the connection', async () => {
    const before = await openFiles();
    const valid = Buffer.concat([
      controlFrame(FrameType.SYN_STREAM, 0, Buffer.of(0, 0, 0, 1), Buffer.alloc(6), randomBytes(30)),
      dataFrameHead(1, 100, false),
      randomBytes(100),
    ]);
    const path = `/exec/${container('web')}?command=cat&input=1&output=1`;
    for (const bytes of [
      ...Array.from({ length: 20 }, () => randomBytes(500)),
      ...Array.from({ length: 30 }, (_, at) => valid.subarray(0, Math.ceil(((at + 1) * valid.length) / 30))),
      Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff]),
    ]) {
      const { socket } = await upgrade({ ...where(path, 'POST'), headers: spdyHeaders('v4.channel.k8s.io') }, request);
      assert.ok(socket);
      socket.on('error', () => {});
      socket.resume();
      socket.end(bytes);
      await closed(socket);
    }
    await lives();
    await agent.until('the connections are gone', async () => {
      agent.look();
      return (await openFiles()) <= before + 10;
    });
  });

  test('WebSocket frames that are nonsense, or cut anywhere, close the connection', async () => {
    const unmasked = Buffer.from([0x82, 0x03, 0x00, 0x61, 0x62]);
    const masked = Buffer.concat([Buffer.from([0x82, 0x83, 1, 2, 3, 4]), Buffer.from([0x01, 0x63, 0x61])]);
    const endless = Buffer.concat([Buffer.from([0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), randomBytes(10)]);
    const path = `/exec/${container('web')}?command=cat&input=1&output=1`;
    for (const bytes of [
      ...Array.from({ length: 20 }, () => randomBytes(500)),
      ...Array.from({ length: masked.length }, (_, at) => masked.subarray(0, at + 1)),
      unmasked,
      endless,
    ]) {
      const { socket } = await upgrade({ ...where(path), headers: webSocketHeaders() }, request);
      assert.ok(socket);
      socket.on('error', () => {});
      socket.resume();
      socket.end(bytes);
      await closed(socket);
    }
    await lives();
  });

  test('who reads nothing of a log, or of an exec, costs little memory and holds up nobody', async (t) => {
    const before = await rss();
    const path = `/exec/${container('web')}?command=head&command=-c&command=20000000&command=/dev/zero&output=1`;
    const idle: TLSSocket[] = [];
    for (let at = 0; at < 10; at++) {
      for (const asked of [`/containerLogs/${container('chatty')}?follow=true`, path]) {
        const socket = await connected();
        socket.pause();
        const headers = asked === path ? Object.entries(webSocketHeaders()).map(([name, value]) => `${name}: ${value}\r\n`) : [];
        socket.write(`GET ${asked} HTTP/1.1\r\nHost: x\r\n${headers.join('')}\r\n`);
        idle.push(socket);
      }
    }
    // While they do not, others read on; they wait for what the container has not written yet.
    const { body } = await fetched(`/containerLogs/${container('chatty')}?follow=true&limitBytes=${20 * MiB}`);
    assert.equal(body.length, 20 * MiB);
    await lives();
    const grown = (await rss()) - before;
    t.diagnostic(`${idle.length} of them cost ${Math.round(grown / MiB)} MiB`);
    for (const socket of idle) socket.destroy();
    assert.ok(grown < 100 * MiB, `${Math.round(grown / MiB)} MiB`);
    if (agent.engine.facts.endsAbandonedCommands)
      await agent.until('the commands have ended', async () => {
        const { stdout } = await runInWeb('ps | grep -c "[h]ead -c 20000000"');
        agent.look();
        return stdout.trim() === '0';
      });
    await lives();
  });

  const runInWeb = async (script: string): Promise<{ stdout: string }> => {
    const query = ['sh', '-c', script].map((word) => `command=${encodeURIComponent(word)}`).join('&');
    const client = await connectSpdy(where(`/exec/${container('web')}?${query}&output=1`), ['v4.channel.k8s.io'], request);
    const [error, stdout] = [await client.open({ streamtype: 'error' }), await client.open({ streamtype: 'stdout' })];
    const [printed] = await Promise.all([stdout.text(), error.text()]);
    await client.close();
    return { stdout: printed };
  };

  test('300 connections that say nothing hold up nobody', async () => {
    const idle = await Promise.all(Array.from({ length: 300 }, connected));
    await lives();
    for (const socket of idle) socket.destroy();
    assert.match(await said('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 200 /);
  });

  test('the agent is the one that was started', async () => {
    assert.equal(await agent.kill(), 0);
    assert.equal(agent.lines.filter(({ msg }) => msg === 'starting').length, 1);
    assert.ok(agent.lines.some(({ node }) => node === NODE));
  });
});
