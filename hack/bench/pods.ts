// npm run bench [-- pods --rounds=20 --burst=30 --idle-seconds=60]: the agent against the engine's own speed, in one run on one engine.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { AgentProcess } from './agent-process.ts';
import { RawEngine } from './raw-engine.ts';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '20' },
    burst: { type: 'string', default: '30' },
    idle: { type: 'string', default: '50' },
    'idle-seconds': { type: 'string', default: '60' },
    engine: { type: 'string', default: '' },
  },
});
const PAUSE = 'rxlet/pause:1';
const APP = 'busybox:1.35';
const endpoint =
  values.engine ||
  execFileSync(resolve(import.meta.dirname, '../docker.sh'), ['up', '/var/lib/rxlet-test-engine'], { encoding: 'utf8' }).trim();
const engine = new RawEngine(endpoint);
const dir = mkdtempSync(join(tmpdir(), 'rxlet-bench-'));
const manifests = join(dir, 'manifests');
mkdirSync(manifests);
const node = hostname().toLowerCase();

const flags = [
  `--pod-manifest-path=${manifests}`,
  `--root-dir=${join(dir, 'root')}`,
  `--docker-endpoint=${endpoint}`,
  `--pod-infra-container-image=${PAUSE}`,
];
const manifest = (name: string): string => `apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: default}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: app
    image: ${APP}
    imagePullPolicy: IfNotPresent
    command: [sh, -c, "trap 'exit 0' TERM; sleep 100000 & wait"]
    resources: {requests: {cpu: 1m, memory: 8Mi}, limits: {memory: 64Mi}}
`;
function declare(name: string): void {
  writeFileSync(join(dir, name), manifest(name));
  renameSync(join(dir, name), join(manifests, `${name}.yaml`));
}
const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))] ?? Number.NaN;
const ms = (value: number): string => `${value.toFixed(0)} ms`;
const row = (what: string, agent: number, raw: number, bar: number): void =>
  console.log(`${what}: ${ms(agent)}, raw ${ms(raw)}, ratio ${(agent / raw).toFixed(2)} (bar ${bar.toFixed(2)})`);

const started = new Map<string, () => void>();
const stopWatching = await engine.watchStarts((pod) => started.get(pod)?.());
const appStarted = (name: string): Promise<void> => new Promise((done) => started.set(`${name}-${node}`, done));
const nothingLeft = async (): Promise<void> => {
  for (;;) {
    const left = (await engine.call('GET', `/containers/json?all=1`)) as unknown[];
    if (left.length === 0) return;
    await new Promise((wait) => setTimeout(wait, 200));
  }
};

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
let agent: AgentProcess | undefined;
try {
  const before = (await engine.call('GET', '/containers/json?all=1')) as unknown[];
  if (before.length > 0) throw new Error(`the engine at ${endpoint} has containers: the benchmark wants one to itself`);

  // Cold start: from exec to the first reconcile that was done, with the compile cache as the second start finds it.
  declare('cold');
  const cold: number[] = [];
  for (let i = 0; i < 6; i++) {
    const at = performance.now();
    agent = new AgentProcess([...flags, '--v=4']);
    await agent.logLine((line) => line.includes('"reconciled"'));
    if (i > 0) cold.push(performance.now() - at);
    await agent.stop();
  }
  console.log(`cold start to first reconcile: p50 ${ms(quantile(cold, 0.5))}, max ${ms(Math.max(...cold))} (bar 400 ms)`);

  agent = new AgentProcess(flags);
  unlinkSync(join(manifests, 'cold.yaml'));
  await nothingLeft();

  // Single pods: agent and raw engine in turns, so that a slow moment of the machine hits both.
  const raws: number[] = [];
  const agents: number[] = [];
  for (let i = 0; i < Number(values.rounds); i++) {
    let at = performance.now();
    const ids = await engine.startPod(`raw-${i}`, PAUSE, APP);
    raws.push(performance.now() - at);
    await engine.remove(ids);
    const running = appStarted(`single-${i}`);
    at = performance.now();
    declare(`single-${i}`);
    await running;
    agents.push(performance.now() - at);
    unlinkSync(join(manifests, `single-${i}.yaml`));
    await nothingLeft();
  }
  row('single pod, p50', quantile(agents, 0.5), quantile(raws, 0.5), 1);
  row('single pod, p90', quantile(agents, 0.9), quantile(raws, 0.9), 1.1);

  // Bursts, in turns as well; the raw side with the parallelism that serves it best.
  const n = Number(values.burst);
  const rawWalls: number[] = [];
  const agentWalls: number[] = [];
  for (const parallel of [4, 10, n]) {
    const names = Array.from({ length: n }, (_, i) => `burst-${parallel}-${i}`);
    const queue = [...names];
    const ids: string[] = [];
    let at = performance.now();
    await Promise.all(
      Array.from({ length: parallel }, async () => {
        for (let name = queue.pop(); name !== undefined; name = queue.pop()) ids.push(...(await engine.startPod(name, PAUSE, APP)));
      }),
    );
    rawWalls.push(performance.now() - at);
    await engine.remove(ids);
    const all = Promise.all(names.map(appStarted));
    at = performance.now();
    for (const name of names) declare(name);
    await all;
    agentWalls.push(performance.now() - at);
    for (const name of names) unlinkSync(join(manifests, `${name}.yaml`));
    await nothingLeft();
  }
  row(`burst of ${n}, wall, best of ${agentWalls.length}`, Math.min(...agentWalls), Math.min(...rawWalls), 1.1);
  console.log(`  raw with 4, 10, ${n} at a time: ${rawWalls.map(ms).join(', ')}; agent: ${agentWalls.map(ms).join(', ')}`);

  // At rest.
  const idle = Array.from({ length: Number(values.idle) }, (_, i) => `idle-${i}`);
  const all = Promise.all(idle.map(appStarted));
  for (const name of idle) declare(name);
  await all;
  await new Promise((wait) => setTimeout(wait, 5000));
  const cpu = agent.cpuSeconds();
  const rss: number[] = [];
  const seconds = Number(values['idle-seconds']);
  for (let i = 0; i < seconds; i++) {
    await new Promise((wait) => setTimeout(wait, 1000));
    rss.push(agent.rssMiB());
  }
  console.log(
    `${idle.length} idle pods over ${seconds} s: cpu ${(((agent.cpuSeconds() - cpu) / seconds) * 100).toFixed(2)} % of a core (bar 1 %)`,
  );
  console.log(
    `${idle.length} idle pods: rss median ${quantile(rss, 0.5).toFixed(0)} MiB, max ${Math.max(...rss).toFixed(0)} MiB (bar 120 MiB)`,
  );
  for (const name of idle) unlinkSync(join(manifests, `${name}.yaml`));
  await nothingLeft();
} finally {
  for (const file of readdirSync(manifests)) unlinkSync(join(manifests, file));
  await agent?.stop();
  stopWatching();
  rmSync(dir, { recursive: true, force: true });
}
process.exit();
