import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Duplex, duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { hijackedSession } from '../../../../../src/engines/docker/access/hijacked-session.ts';
import type { ContainerSession, StreamsWanted } from '../../../../../src/ports/container-access.ts';

const ALL: StreamsWanted = { stdin: true, stdout: true, stderr: true, tty: false };

function frame(kind: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  const header = Buffer.from([kind, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

interface World {
  readonly session: ContainerSession;
  /** The engine's end of the connection. */
  readonly engine: Duplex;
  readonly connection: Duplex;
  readonly gone: AbortController;
}

function open(wanted = ALL): World {
  const [connection, engine] = duplexPair();
  const gone = new AbortController();
  gone.signal.addEventListener('abort', () => connection.destroy(new Error('aborted')));
  const session = hijackedSession({
    connection,
    wanted,
    raw: wanted.tty,
    signal: gone.signal,
    resize: () => Promise.resolve(),
    exitCode: () => Promise.resolve(5),
  });
  return { session, engine, connection, gone };
}

const outputOf = ({ stdout, stderr }: ContainerSession): Promise<readonly [string, string]> =>
  Promise.all([stdout ? text(stdout) : '', stderr ? text(stderr) : '']);

describe('a session on a connection that the engine gave over', () => {
  test('takes the outputs apart and tells the exit code after their end', async () => {
    const { session, engine } = open();
    engine.end(Buffer.concat([frame(1, 'out'), frame(2, 'err'), frame(1, 'put')]));
    assert.deepEqual(await outputOf(session), ['output', 'err']);
    assert.equal(await session.ended, 5);
  });

  test('gives raw bytes as they are where there is a terminal', async () => {
    const { session, engine } = open({ ...ALL, tty: true });
    engine.end('plain');
    assert.deepEqual(await outputOf(session), ['plain', '']);
  });

  test('pauses the connection while nobody reads', async () => {
    const { session, engine, connection } = open();
    const block = frame(1, Buffer.alloc(64 << 10));
    for (let n = 0; n < 100; n++) engine.write(block);
    await once(connection, 'pause');
    assert.ok((session.stdout?.readableLength ?? 0) <= 512 << 10, `${session.stdout?.readableLength} bytes wait`);
    engine.end();
    const [stdout] = await outputOf(session);
    assert.equal(stdout.length, 100 * (64 << 10));
  });

  test('holds back who writes faster than the process reads', async () => {
    const { session, engine } = open();
    const block = Buffer.alloc(64 << 10);
    let written = 0;
    for (let more = true; more && written < 100; written++) more = session.stdin?.write(block) === true;
    assert.ok(written < 10, `${written} blocks were taken`);
    session.stdin?.end();
    assert.equal((await text(engine)).length, written * block.length);
  });

  test('closes the input of a process that has ended', async () => {
    const { session, engine } = open();
    engine.end();
    engine.resume();
    await Promise.all([session.stdin && once(session.stdin, 'close'), outputOf(session)]);
    assert.equal(session.stdin?.errored, null);
  });

  test('breaks with the reason of an abort, without an uncaught error', async () => {
    const { session, gone } = open();
    const reason = new Error('the client has gone');
    gone.abort(reason);
    await assert.rejects(session.ended, (error) => error === reason);
    assert.ok(session.stdout?.destroyed && session.stderr?.destroyed && session.stdin?.destroyed);
  });

  test('breaks when the connection does, or speaks another language', async () => {
    const broken = open();
    broken.connection.destroy(new Error('reset'));
    await assert.rejects(broken.session.ended, /the connection to the container broke/);
    const strange = open();
    strange.engine.write('HTTP/1.1 500 oh no\r\n');
    await assert.rejects(strange.session.ended, /the connection to the container broke/);
  });
});
