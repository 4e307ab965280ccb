import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { PassThrough, Readable, Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { test } from 'node:test';
import type { CommandIo, CommandOutput } from '../../../src/cli/command-io.ts';
import { runLogs } from '../../../src/cli/logs.ts';
import { runTimeline } from '../../../src/cli/timeline.ts';
import { runWatch } from '../../../src/cli/watch.ts';
import { watchScreen } from '../../../src/cli/watch-screen.ts';
import type { ExplainedInShort } from '../../../src/model/explanation.ts';
import type { StreamEntry } from '../../../src/model/stream-entry.ts';

const NOW = new Date(2026, 0, 2, 12, 3, 10, 120).getTime();
const hostile = '\u001B[2J\u009B31m\nowned';
const reconciled: StreamEntry = {
  seq: 1,
  atMs: NOW - 5,
  stream: 'reconcile',
  level: 4,
  message: 'reconciled',
  pod: 'default/web',
  fields: {
    woken: ['pod added'],
    life: 'syncing',
    because: ['app has not run yet'],
    actions: [{ do: 'startContainer', name: 'app', tookMs: 40, error: hostile }],
    observeMs: 1,
    totalMs: 41,
    next: { afterMs: 1_500 },
  },
};
const lease: StreamEntry = {
  seq: 2,
  atMs: NOW,
  stream: 'lease',
  level: 'warning',
  message: 'node lease failed, retrying',
  fields: { error: hostile },
};

/** An agent whose timeline is this, and what it was asked for. */
function agentOf(body: string): { readonly asked: string[]; readonly agent: Parameters<typeof runTimeline>[1] } {
  const asked: string[] = [];
  const stream = async (path: string): Promise<never> => {
    asked.push(path);
    return Readable.from([body]) as never;
  };
  return { asked, agent: { json: async () => ({ items: [] }), stream } };
}
function anIo(stdout: CommandOutput = new PassThrough()): CommandIo {
  return { stdin: new PassThrough(), stdout, stderr: { write: () => true }, nowMs: () => NOW, plain: true };
}
async function output(run: (io: CommandIo) => Promise<number>): Promise<string> {
  const stdout = new PassThrough();
  assert.equal(await run(anIo(stdout)), 0);
  stdout.end();
  return await readAll(stdout);
}
const body = [reconciled, lease].map((entry) => `${JSON.stringify(entry)}\n`).join('');

test('the timeline is a line an entry, and nothing in it steers the terminal', async () => {
  const { asked, agent } = agentOf(`${body}damaged\n`);
  const text = await output((io) => runTimeline(['-n', 'default', 'web', '--since=10m', '-f', '--stream=a,b'], agent, io));
  assert.deepEqual(asked, ['/rxlet/v1/timeline?follow=true&since=10m&stream=a%2Cb&pod=default%2Fweb']);
  assert.deepEqual(text.split('\n'), [
    '12:03:10.115 reconcile default/web: startContainer app: ?[2J?31m?owned (40 ms); because app has not run yet; woken by pod added; next look in 1.5 s',
    String.raw`12:03:10.120 lease: WARNING: node lease failed, retrying error="\u001b[2J?31m\nowned"`,
    '',
  ]);
});

test('as JSON it is what the agent sends, without orders to a terminal', async () => {
  const text = await output((io) => runTimeline(['--output=json'], agentOf(body).agent, io));
  assert.deepEqual(
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
    [reconciled, lease],
  );
  assert.ok(!text.includes('\u001B') && !text.includes('\u009B'));
});

test("the agent's own log is shown as it logs it", async () => {
  const { asked, agent } = agentOf(body);
  const text = await output((io) => runLogs(['--agent', '--since=5m', '--tail=10'], agent, io));
  assert.deepEqual(asked, ['/rxlet/v1/timeline?since=5m&limit=10']);
  assert.match(
    text.split('\n')[1] ?? '',
    /^W0102 12:03:10\.120 node lease failed, retrying error="\\u001b\[2J\?31m\\nowned" logger="lease"$/,
  );
});

test('a reader that has gone ends it', async () => {
  const stdout = new Writable({ highWaterMark: 1, write: (_piece, _encoding, done) => done(new Error('EPIPE')) });
  assert.equal(await runTimeline([], agentOf(body.repeat(1_000)).agent, anIo(stdout)), 0);
});

const aLine = (over: Partial<ExplainedInShort>): ExplainedInShort => ({ pod: 'default/web', state: 'well', restarts: 0, ...over });
const pods: readonly ExplainedInShort[] = [
  aLine({ pod: 'default/well', phase: 'Running', sinceMs: NOW - 90_000 }),
  aLine({
    pod: `default/${'long'.repeat(20)}`,
    state: 'sick',
    restarts: 3,
    sinceMs: NOW - 5_000,
    cause: {
      code: 'crash-loop',
      kind: 'fault',
      text: `app keeps ending with exit code 1; started again later ${hostile}`,
      untilMs: NOW + 20_000,
    },
  }),
  aLine({ pod: 'default/pulls', state: 'waiting', pull: { stage: 'under way', sinceMs: NOW, percent: 43, msLeft: 12_000 } }),
];

test('the screen has a line a pod, the worst first, within 80 columns and its height', () => {
  const screen = watchScreen(pods, { columns: 80, rows: 24 }, NOW);
  assert.deepEqual(screen, [
    '3 pods: 1 sick, 1 waiting, 1 well',
    'POD                        STATE     SINCE  WHAT',
    'default/longlonglonglongl… sick      5s     app keeps ending with exit code 1; …',
    'default/pulls              waiting          pulling [####------] 43 %, 12s left',
    'default/well               well      90s    Running',
  ]);
  for (const line of watchScreen(pods, { columns: 20, rows: 4 }, NOW)) assert.ok(Array.from(line).length <= 20, line);
  const many = Array.from({ length: 300 }, (_, n) => aLine({ pod: `default/p${n}` }));
  assert.equal(watchScreen(many, { columns: 80, rows: 24 }, NOW).length, 23);
});

/** Time that passes when the test says. */
function aWatch(isTTY: boolean): {
  readonly written: () => string;
  readonly tick: () => void;
  readonly signals: EventEmitter;
  readonly stdout: CommandOutput & EventEmitter;
  readonly run: (answers: readonly (readonly ExplainedInShort[])[]) => Promise<number>;
} {
  let text = '';
  const stdout = Object.assign(new PassThrough(), { isTTY, columns: 80, rows: 24 });
  stdout.on('data', (piece: Buffer) => (text += piece.toString()));
  const signals = new EventEmitter();
  const ticks = new EventEmitter();
  const sleep = (_ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      ticks.once('tick', resolve);
      signal?.addEventListener('abort', () => reject(new Error('aborted')));
    });
  return {
    written: () => text,
    tick: () => ticks.emit('tick'),
    signals,
    stdout,
    run: async (answers) => {
      let at = 0;
      const json = async (): Promise<unknown> => ({ items: answers[Math.min(at++, answers.length - 1)] });
      return await runWatch([], { json }, anIo(stdout), { clock: { sleep }, signals: signals as never });
    },
  };
}
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('Ctrl-C gives the terminal back as it was, and a new size is drawn at once', async () => {
  const { run, written, signals, stdout } = aWatch(true);
  const running = run([pods]);
  await turn();
  assert.ok(written().startsWith('\u001B[?1049h\u001B[?25l'));
  const before = written().length;
  stdout.emit('resize');
  await turn();
  assert.match(written().slice(before), /3 pods/);
  signals.emit('SIGINT');
  assert.equal(await running, 0);
  await turn();
  assert.ok(written().endsWith('\u001B[?25h\u001B[?1049l'));
  assert.deepEqual([signals.listenerCount('SIGINT'), stdout.listenerCount('resize')], [0, 0]);
});

test('where the output is no terminal, there is a plain line for each change', async () => {
  const { run, written, signals, tick } = aWatch(false);
  const running = run([[aLine({ phase: 'Pending' })], [aLine({ phase: 'Pending' })], [aLine({ phase: 'Running' })], []]);
  await turn();
  for (let n = 0; n < 3; n++) {
    tick();
    await turn();
  }
  signals.emit('SIGTERM');
  assert.equal(await running, 0);
  const at = new Date(NOW).toISOString();
  assert.deepEqual(written().split('\n'), [
    `${at} default/web well: Pending`,
    `${at} default/web well: Running`,
    `${at} no longer there: default/web well: Running`,
    '',
  ]);
});
