import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentProcess } from './agent-process.ts';
import { pause } from './cluster-nodes.ts';

/** A start that hangs fails the benchmark. */
const START_MINUTES = 10;

export interface CostOfPods {
  /** Of CPU, a pod. */
  readonly startMs: number;
  /** Percent of a core for each 1,000 pods. */
  readonly idle: number;
  readonly rssMiB: number;
}

/** What `pods` pods, all declared at once, cost the agent on the embedded engine. Rejects when they do not run in time. */
export async function costOfPods(pods: number, idleSeconds: number, checkout?: string): Promise<CostOfPods> {
  const dir = mkdtempSync(join(tmpdir(), 'rxlet-bench-'));
  const { server, url, declare } = await manifestServer();
  const agent = new AgentProcess(
    [
      `--manifest-url=${url}`,
      '--http-check-frequency=5s',
      '--docker-endpoint=fake://',
      `--root-dir=${dir}`,
      `--max-pods=${pods}`,
      `--port=${await freePort()}`,
      '--healthz-port=0',
    ],
    checkout,
  );
  let running = 0;
  const allRun = agent.logLine((line) => line.includes('"pod phase changed"') && line.includes('"to":"Running"') && ++running === pods);
  try {
    await pause(5000);
    const before = agent.cpuSeconds();
    declare(pods);
    await inTime(allRun, () => `${running} of ${pods} pods run after ${START_MINUTES} min`);
    // What follows a start, up to the relist after it.
    await pause(15_000);
    const started = agent.cpuSeconds();
    await pause(idleSeconds * 1000);
    const idle = agent.cpuSeconds() - started;
    return {
      startMs: ((started - before) * 1000) / pods,
      idle: ((idle / idleSeconds) * 100 * 1000) / pods,
      rssMiB: agent.rssMiB(),
    };
  } finally {
    await agent.stop();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  }
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

async function inTime(started: Promise<void>, why: () => string): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(why())), START_MINUTES * 60_000);
  await Promise.race([started, late]).finally(() => clearTimeout(timer));
}
