// npm run bench -- scale [--few=1000 --many=5000 --idle-seconds=60]: what a pod costs the agent among few and among many, on the embedded
// engine, in CPU time. Fails when a pod among many costs more than 1.3 times as much.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { AgentProcess } from './agent-process.ts';

const BAR = 1.3;
/** A start that hangs fails the benchmark. */
const START_MINUTES = 10;

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    few: { type: 'string', default: '1000' },
    many: { type: 'string', default: '5000' },
    'idle-seconds': { type: 'string', default: '60' },
  },
});

interface Cost {
  readonly startMs: number;
  /** Percent of a core for each 1,000 pods. */
  readonly idle: number;
  readonly rssMiB: number;
}

const pod = (_: unknown, i: number): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `pod-${i}`, namespace: 'default', labels: { app: 'scale' } },
  spec: {
    containers: [{ name: 'app', image: 'busybox:1.35', imagePullPolicy: 'IfNotPresent', command: ['sleep', '1000000'] }],
  },
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a server without a port');
  return address.port;
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((closed) => server.close(closed));
  return port;
}

/** Answers with what is declared. */
async function manifestServer(): Promise<{ readonly server: Server; readonly url: string; readonly declare: (pods: number) => void }> {
  const list = (pods: number): string => JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: Array.from({ length: pods }, pod) });
  let body = list(0);
  const server = createServer((_, response) => response.setHeader('content-type', 'application/json').end(body));
  const port = await listen(server);
  return { server, url: `http://127.0.0.1:${port}/`, declare: (pods) => (body = list(pods)) };
}

const seconds = (count: number): Promise<void> => new Promise((done) => setTimeout(done, count * 1000));

async function costOf(pods: number): Promise<Cost> {
  const dir = mkdtempSync(join(tmpdir(), 'rxlet-bench-'));
  const { server, url, declare } = await manifestServer();
  const agent = new AgentProcess([
    `--manifest-url=${url}`,
    '--http-check-frequency=5s',
    '--docker-endpoint=fake://',
    `--root-dir=${dir}`,
    `--max-pods=${pods}`,
    `--port=${await freePort()}`,
    '--healthz-port=0',
  ]);
  let running = 0;
  const allRun = agent.logLine((line) => line.includes('"pod phase changed"') && line.includes('"to":"Running"') && ++running === pods);
  try {
    await seconds(5);
    const before = agent.cpuSeconds();
    declare(pods);
    const late = setTimeout(() => fail(`${running} of ${pods} pods run after ${START_MINUTES} min`), START_MINUTES * 60_000);
    await allRun;
    clearTimeout(late);
    // What follows a start, up to the relist after it.
    await seconds(15);
    const started = agent.cpuSeconds();
    const forSeconds = Number(values['idle-seconds']);
    await seconds(forSeconds);
    const idle = agent.cpuSeconds() - started;
    return {
      startMs: ((started - before) * 1000) / pods,
      idle: ((idle / forSeconds) * 100 * 1000) / pods,
      rssMiB: agent.rssMiB(),
    };
  } finally {
    await agent.stop();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

function fail(why: string): never {
  console.error(why);
  process.exit(1);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
const counts = [Number(values.few), Number(values.many)] as const;
const told = async (pods: number): Promise<Cost> => {
  const cost = await costOf(pods);
  console.log(
    `${pods} pods: start ${cost.startMs.toFixed(2)} ms of CPU a pod, idle ${cost.idle.toFixed(2)} % of a core for each 1,000 pods ` +
      `(${((cost.idle * pods) / 1000).toFixed(1)} % in all), rss ${cost.rssMiB.toFixed(0)} MiB`,
  );
  return cost;
};
const few = await told(counts[0]);
const many = await told(counts[1]);
const ratios = { start: many.startMs / few.startMs, idle: many.idle / few.idle };
const passed = Object.values(ratios).every((ratio) => ratio <= BAR);
for (const [what, ratio] of Object.entries(ratios))
  console.log(`${what}, a pod among ${counts[1]} to one among ${counts[0]}: ratio ${ratio.toFixed(2)} (bar ${BAR})`);
console.log(passed ? 'pass' : 'FAIL');
process.exit(passed ? 0 : 1);
