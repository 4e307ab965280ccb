import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { text } from 'node:stream/consumers';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { type CriAccess, criAccess } from '../../../src/engines/cri/access/cri-access.ts';
import { logRotation } from '../../../src/engines/cri/logs/log-rotation.ts';
import { LoggingContainers } from '../../../src/engines/cri/logs/logging-containers.ts';
import { TimestampedLogs } from '../../../src/engines/cri/logs/timestamped-logs.ts';
import { imageDirectory } from '../../../src/engines/cri/observe/image-directory.ts';
import { RunningContainers } from '../../../src/engines/cri/observe/running-containers.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import { execOnce } from '../../../src/ports/exec-once.ts';
import { CriPod } from '../../builders/cri-pod.ts';
import { nothingGiven } from '../../builders/node-parts.ts';

const OUTPUTS = { stdin: false, stdout: true, stderr: true, tty: false };

describe('containers of a runtime that speaks CRI', { timeout: 300_000 }, () => {
  const { signal } = new AbortController();
  const names = new TimestampedLogs(systemClock);
  let pod: CriPod;
  let access: CriAccess;
  let app: ContainerId;
  before(async () => {
    pod = await CriPod.run();
    access = criAccess({ client: pod.client, clock: systemClock, names });
    app = await pod.start('app', 'nc -ll -p 7 -e cat & sleep 100000');
  });
  after(async () => {
    access.close();
    await pod[Symbol.asyncDispose]();
  });

  test('a command has its input to its end, both outputs and its exit code', async () => {
    const session = await access.exec(app, ['sh', '-c', 'cat; echo err >&2; exit 3'], { ...OUTPUTS, stdin: true }, signal);
    session.stdin?.end('in\n');
    const [stdout, stderr, exitCode] = await Promise.all([text(session.stdout!), text(session.stderr!), session.ended]);
    assert.deepEqual([stdout, stderr, exitCode], ['in\n', 'err\n', 3]);
  });

  test('megabytes pass in both directions', async () => {
    const session = await access.exec(app, ['cat'], { ...OUTPUTS, stdin: true }, signal);
    session.stderr?.resume();
    const bytes = 8 << 20;
    session.stdin?.end(Buffer.alloc(bytes));
    let received = 0;
    for await (const part of session.stdout!) received += Buffer.from(part as Uint8Array).length;
    assert.deepEqual([received, await session.ended], [bytes, 0]);
  });

  test('a terminal without an input loses nothing of its output', async () => {
    for (let round = 0; round < 5; round++) {
      const session = await access.exec(app, ['sh', '-c', 'echo out; echo err >&2'], { ...OUTPUTS, tty: true }, signal);
      assert.equal((await text(session.stdout!)).replaceAll('\r', ''), 'out\nerr\n');
      assert.equal(await session.ended, 0);
    }
  });

  test('a command that is not there ends with 127 and the words of the runtime', async () => {
    const { exitCode, output } = await execOnce(access, app, ['/nonexistent'], { clock: systemClock }, signal);
    assert.equal(exitCode, 127);
    assert.match(output, /OCI runtime exec failed.*no such file or directory/);
  });

  test('who attaches to a terminal sees what is typed and said, and leaves it alone when he goes', async () => {
    const id = await pod.start('shell', 'while read line; do echo "got $line"; done', { stdin: true, tty: true });
    for (const word of ['one', 'two']) {
      const gone = new AbortController();
      const session = await access.attach(id, { ...OUTPUTS, stdin: true, tty: true }, gone.signal);
      session.stdin?.write(`${word}\n`);
      let seen = '';
      for await (const part of session.stdout!) {
        seen += String(part);
        if (seen.includes(`got ${word}\r\n`)) break;
      }
      gone.abort(new Error('gone'));
      await assert.rejects(session.ended, /gone/);
    }
  });

  test('a port of the sandbox is dialled, and one that is closed refuses', async () => {
    const listens = 'until grep -q ":0007 .* 0A " /proc/net/tcp /proc/net/tcp6; do sleep 0.1; done';
    await execOnce(access, app, ['sh', '-c', listens], { clock: systemClock }, signal);
    const connection = await access.dial(pod.sandbox, 7, signal);
    connection.end('hello\n');
    assert.equal(await text(connection), 'hello\n');
    await assert.rejects(access.dial(pod.sandbox, 81, signal), { message: 'dial tcp 127.0.0.1:81: connect: connection refused' });
  });

  test('a log that is rotated again and again is followed without a line lost or repeated', async () => {
    const lines = 12_000;
    const script = `i=0; while [ $i -lt ${lines} ]; do echo "line $i"; i=$((i+1)); [ $((i%400)) = 0 ] && sleep 0.3; done`;
    const id = await pod.start('chatty', script);
    const containers = new LoggingContainers(pod.client, pod.podLogsDir);
    const stop = new AbortController();
    const rotating = logRotation({
      settings: () => ({ policy: { maxSizeBytes: 20_000, maxFiles: 5 }, intervalMs: 3_000, workers: 1 }),
      names,
      running: (listing) => containers.list(listing),
      reopen: (container, reopening) => containers.reopen(container, reopening),
      clock: systemClock,
      log: silentLogger,
    }).run(stop.signal, nothingGiven);
    let seen = '';
    for await (const { bytes } of access.logs(id, { follow: true, timestamps: false }, signal)) seen += Buffer.from(bytes).toString();
    stop.abort();
    await rotating;
    assert.equal(seen, Array.from({ length: lines }, (_, n) => `line ${n}\n`).join(''));
    const files = await readdir(`${pod.podLogsDir}/default_pod_${pod.uid}/chatty`);
    assert.ok(files.length >= 3 && files.some((file) => file.endsWith('.gz')), files.join(' '));
  });

  test('what runs is told with its process, its log and its writable layer, which lies where the runtime keeps images', async () => {
    const found = (await new RunningContainers(pod.client).list(signal)).find(({ uid }) => uid === pod.uid);
    const container = found?.containers.find(({ id }) => id === app);
    assert.ok(found?.sandbox !== undefined && container !== undefined);
    assert.match(String(container.logPath), /\/app\/0\.log$/);
    const images = await imageDirectory(pod.client, signal);
    assert.ok(
      images !== undefined && container.writableLayer?.startsWith(`${dirname(images)}/`),
      `${container.writableLayer} in ${images}`,
    );
  });
});
