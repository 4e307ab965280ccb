import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { errorCode } from '../../../src/base/error-code.ts';
import { type AnAgent, anAgent } from './an-agent.ts';
import { freshDirectory } from './fresh-directory.ts';

/** What a read or a write gives until there is nothing more for it. */
function untilAgain(io: () => number): void {
  try {
    while (io() > 0);
  } catch (error) {
    if (errorCode(error) !== 'EAGAIN') throw error;
  }
}

/** An agent whose standard error is full before it begins; resolves once it asks for its manifests. */
async function unread(
  t: TestContext,
  ...flags: string[]
): Promise<{ agent: AnAgent; pipe: number; stderr: number; asked: () => Promise<unknown> }> {
  const dir = await freshDirectory(t);
  const path = join(dir, 'pipe');
  execFileSync('mkfifo', [path]);
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  // One of its own: what starts a process makes it wait again, for all who share it.
  const stderr = openSync(path, constants.O_WRONLY);
  t.after(() => [pipe, stderr].forEach((fd) => closeSync(fd)));
  untilAgain(() => writeSync(pipe, 'x'));
  const server = createServer((_request, response) => void response.end('{"apiVersion":"v1","kind":"PodList","items":[]}'));
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const asked = (): Promise<unknown> => once(server, 'request');
  const first = asked();
  const { port } = server.address() as AddressInfo;
  const url = [`--manifest-url=http://127.0.0.1:${port}`, '--http-check-frequency=100ms'];
  const agent = await anAgent(t, { dir, stderr, flags: [...url, ...flags] });
  await first;
  return { agent, pipe, stderr, asked };
}

test('an agent whose log nobody reads works, and ends when it is told to', { timeout: 60_000 }, async (t) => {
  const { agent, stderr, asked } = await unread(t, '--v=10');
  for (let time = 0; time < 5; time++) await asked();
  agent.child.kill('SIGTERM');
  assert.equal(await agent.exited, 0);
  // Who shares the pipe with it waits for the reader as before.
  const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${stderr}`, 'utf8'))?.[1];
  assert.equal(parseInt(flags ?? '', 8) & constants.O_NONBLOCK, 0, flags);
});

test('who reads it late has all of its lines', { timeout: 60_000 }, async (t) => {
  const { agent, pipe } = await unread(t);
  const bytes = Buffer.alloc(1 << 16);
  untilAgain(() => readSync(pipe, bytes));
  agent.child.kill('SIGTERM');
  assert.equal(await agent.exited, 0);
  let text = '';
  untilAgain(() => {
    const read = readSync(pipe, bytes);
    text += bytes.toString('utf8', 0, read);
    return read;
  });
  const told = [' starting ', ' signal, stopping', ' stopped; the pods stay as they are'].map((words) => text.indexOf(words));
  assert.ok(!told.includes(-1), text);
  assert.deepEqual(
    told,
    told.toSorted((one, other) => one - other),
  );
});
