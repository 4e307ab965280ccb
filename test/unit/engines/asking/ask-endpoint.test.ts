import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { systemClock } from '../../../../src/base/clock.ts';
import { ANSWER_WITHIN_MS, askEndpoint } from '../../../../src/engines/asking/ask-endpoint.ts';
import type { EndpointAnswer } from '../../../../src/engines/asking/endpoint-answer.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

describe('what listens at an endpoint is found out by asking', () => {
  let directory: string;
  let sockets = 0;
  before(async () => (directory = await mkdtemp(join(tmpdir(), 'rxlet-ask-'))));
  after(() => rm(directory, { recursive: true }));

  const listening = async (t: TestContext, server: Server): Promise<string> => {
    const path = join(directory, `${sockets++}.sock`);
    await new Promise<void>((resolve) => server.listen(path, resolve));
    t.after(() => server.close());
    return `unix://${path}`;
  };
  const ask = (endpoint: string): Promise<EndpointAnswer> => askEndpoint(endpoint, systemClock, AbortSignal.timeout(20_000));
  const found = async (endpoint: string): Promise<string> => {
    const answer = await ask(endpoint);
    assert.ok(answer.speaks === 'nothing', JSON.stringify(answer));
    assert.notEqual(answer.toDo, '');
    return `${answer.is}: ${answer.found}`;
  };
  const http = (t: TestContext, answer: (response: ServerResponse) => void): Promise<string> =>
    listening(
      t,
      createHttpServer((_, response) => answer(response)),
    );
  const pinged = (t: TestContext, server: string | undefined, api: string): Promise<string> =>
    http(t, (response) => void response.writeHead(200, { 'api-version': api, ...(server !== undefined && { server }) }).end('OK'));
  const grpc = async (t: TestContext, answer: (stream: ServerHttp2Stream, path: string) => void): Promise<string> => {
    const server = createHttp2Server();
    server.on('stream', (stream, headers) => answer(stream, headers[':path'] ?? ''));
    // What a gRPC server does with another protocol.
    server.on('unknownProtocol', (socket) => socket.destroy());
    return listening(t, server);
  };
  const version = (name: string, of: string): Buffer => {
    const fields = [
      [1, '0.1.0'],
      [2, name],
      [3, of],
      [4, 'v1'],
    ] as const;
    const message = Buffer.concat(
      fields.map(([number, text]) => Buffer.concat([Buffer.from([(number << 3) | 2, text.length]), Buffer.from(text)])),
    );
    const header = Buffer.alloc(5);
    header.writeUInt32BE(message.length, 1);
    return Buffer.concat([header, message]);
  };
  const replied = (stream: ServerHttp2Stream, status: number, message: Buffer): void => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(status), 'grpc-message': 'because' }));
    stream.end(message);
  };

  test('Docker', async (t) => {
    assert.deepEqual(await ask(await pinged(t, 'Docker/28.5.2 (linux)', '1.51')), {
      speaks: 'docker',
      name: 'docker',
      version: '28.5.2',
      apiVersion: '1.51',
    });
  });

  test('Docker over TCP', async (t) => {
    const server = createHttpServer((_, response) =>
      response.writeHead(200, { 'api-version': '1.41', server: 'Docker/20.10.24 (linux)' }).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    assert.equal((await ask(`tcp://127.0.0.1:${address.port}`)).speaks, 'docker');
  });

  test('Docker behind a proxy that hides its name', async (t) => {
    const answer = await ask(await pinged(t, undefined, '1.44'));
    assert.deepEqual(answer, { speaks: 'docker', name: 'docker', version: '', apiVersion: '1.44' });
  });

  test('Podman', async (t) => {
    const answer = await ask(await pinged(t, 'Libpod/5.8.6 (linux)', '1.44'));
    assert.deepEqual(answer, { speaks: 'docker', name: 'podman', version: '5.8.6', apiVersion: '1.44' });
  });

  test('older ones than are driven', async (t) => {
    assert.equal(await found(await pinged(t, 'Libpod/4.3.1 (linux)', '1.41')), 'wrong: it is Podman 4.3.1, which loses events');
    assert.equal(await found(await pinged(t, 'Docker/19.03.15 (linux)', '1.40')), 'wrong: it is Docker 19.03.15, whose API is 1.40');
  });

  test('a container runtime, by CRI', async (t) => {
    const endpoint = await grpc(t, (stream) => replied(stream, 0, version('containerd', '2.1.9')));
    assert.deepEqual(await ask(endpoint), { speaks: 'cri', name: 'containerd', version: '2.1.9', apiVersion: 'v1' });
  });

  test('a container runtime that knows v1alpha2 alone', async (t) => {
    const endpoint = await grpc(t, (stream, path) =>
      path.startsWith('/runtime.v1.') ? replied(stream, 12, Buffer.alloc(0)) : replied(stream, 0, version('cri-o', '1.20.0')),
    );
    assert.equal(await found(endpoint), 'wrong: it is cri-o 1.20.0, whose CRI is v1alpha2');
  });

  test('gRPC without CRI, and with an answer that is none', async (t) => {
    assert.equal(await found(await grpc(t, (stream) => replied(stream, 12, Buffer.alloc(0)))), 'wrong: it speaks gRPC, but serves no CRI');
    for (const junk of [Buffer.alloc(0), Buffer.from([0xff, 0xff]), Buffer.alloc(64, 0x12), Buffer.alloc(100_000, 0x12)])
      assert.match(await found(await grpc(t, (stream) => replied(stream, 0, junk))), /^wrong: it speaks /);
    assert.equal(await found(await grpc(t, (stream) => replied(stream, 14, Buffer.alloc(0)))), 'away: its runtime answers 14 (because)');
  });

  test('HTTP of another kind', async (t) => {
    const endpoint = await http(t, (response) => response.writeHead(404).end('no'));
    assert.equal(await found(endpoint), 'wrong: it speaks HTTP, but is no container engine: GET /_ping answered 404 without a version');
  });

  test('garbage, and who hangs up', async (t) => {
    const garbage = createServer((socket) => socket.on('error', () => {}).end(Buffer.alloc(200_000, 0x41)));
    assert.equal(await found(await listening(t, garbage)), 'wrong: it speaks neither the API of Docker nor CRI');
    const silent = createServer((socket) => socket.destroy());
    assert.equal(await found(await listening(t, silent)), 'wrong: it speaks neither the API of Docker nor CRI');
  });

  test('headers without an end', async (t) => {
    const endless = createServer((socket) => {
      socket.on('error', () => {}).write('HTTP/1.1 200 OK\r\n');
      const more = (): void => {
        while (!socket.destroyed && socket.write(`x-${'y'.repeat(1000)}: z\r\n`));
      };
      socket.on('drain', more);
      more();
    });
    assert.match(await found(await listening(t, endless)), /^wrong: it speaks neither/);
  });

  test('a socket that takes connections and says nothing is given up', async (t) => {
    const mute = createServer();
    const endpoint = await listening(t, mute);
    const clock = new FakeClock();
    const connected = new Promise<void>((resolve) => mute.once('connection', (socket) => (t.after(() => socket.destroy()), resolve())));
    const answer = askEndpoint(endpoint, clock, AbortSignal.timeout(20_000));
    await connected;
    clock.advance(ANSWER_WITHIN_MS);
    const given = await answer;
    assert.ok(given.speaks === 'nothing');
    assert.deepEqual([given.is, given.found], ['away', 'it takes connections and does not answer within 5 s']);
    assert.equal(clock.actions.length, 0);
  });

  test('no socket at all', async () => {
    const file = join(directory, 'file');
    await writeFile(file, '');
    await mkdir(join(directory, 'folder'), { recursive: true });
    assert.equal(await found('unix:///nonexistent/docker.sock'), 'away: there is no such file');
    assert.equal(await found(`unix://${file}/docker.sock`), 'away: there is no such file');
    assert.equal(await found(`unix://${file}`), 'wrong: it is no socket');
    assert.equal(await found(`unix://${join(directory, 'folder')}`), 'wrong: it is a directory, no socket');
    assert.match(
      await found(`unix:///${'a'.repeat(10_000)}`),
      /^wrong: "unix:\/\/\/a+…": a socket's path has at most 107 bytes, this one has 10001$/,
    );
    assert.match(await found('tcp://127.0.0.1:1'), /^away: nothing listens there$/);
    assert.match(await found('npipe:x'), /^wrong: "npipe:x": expected unix:\/\/\/PATH or tcp:\/\/HOST:PORT$/);
  });

  test('a socket that nobody listens at any more', async (t) => {
    const path = join(directory, 'left.sock');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    await chmod(path, 0o600);
    // Closing removes the file; a killed process leaves it.
    const { rename } = await import('node:fs/promises');
    await rename(path, `${path}.kept`);
    await new Promise<void>((resolve) => server.close(() => resolve()));
    t.after(() => rm(`${path}.kept`, { force: true }));
    assert.equal(await found(`unix://${path}.kept`), 'away: nothing listens there');
  });

  test('an abort ends the asking with its reason', async (t) => {
    const endpoint = await listening(t, createServer());
    const stop = new AbortController();
    const answer = askEndpoint(endpoint, systemClock, stop.signal);
    stop.abort(new Error('enough'));
    await assert.rejects(answer, /enough/);
    await assert.rejects(askEndpoint('unix:///nonexistent', systemClock, stop.signal), /enough/);
  });
});
