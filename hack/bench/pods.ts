// npm run bench [-- pods|cri --rounds=20 --burst=30 --idle-seconds=60]: the agent against the engine's own speed, in one run on one engine: Docker,
// or containerd by CRI.
import { parseArgs } from 'node:util';
import { quantile } from './cluster-nodes.ts';
import { StandaloneNode } from './standalone-node.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '20' },
    burst: { type: 'string', default: '30' },
    idle: { type: 'string', default: '50' },
    'idle-seconds': { type: 'string', default: '60' },
    engine: { type: 'string', default: '' },
  },
});
const ms = (value: number): string => `${value.toFixed(0)} ms`;
const row = (what: string, agent: number, raw: number, bar: number): void =>
  console.log(`${what}: ${ms(agent)}, raw ${ms(raw)}, ratio ${(agent / raw).toFixed(2)} (bar ${bar.toFixed(2)})`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
const cri = positionals[0] === 'cri';
const node = await StandaloneNode.open(values.engine, cri ? 'cri' : 'docker');
const { engine } = node;
try {
  const cold = await node.start(5);
  console.log(`cold start to first reconcile: p50 ${ms(quantile(cold, 0.5))}, max ${ms(Math.max(...cold))} (bar 400 ms)`);

  // Single pods: agent and raw engine in turns, so that a slow moment of the machine hits both.
  const raws: number[] = [];
  const agents: number[] = [];
  for (let i = 0; i < Number(values.rounds); i++) {
    const at = performance.now();
    const ids = await engine.startPod(`raw-${i}`);
    raws.push(performance.now() - at);
    await engine.remove(ids);
    agents.push(await node.run([`single-${i}`]));
    await node.remove([`single-${i}`]);
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
    const at = performance.now();
    await Promise.all(
      Array.from({ length: parallel }, async () => {
        for (let name = queue.pop(); name !== undefined; name = queue.pop()) ids.push(...(await engine.startPod(name)));
      }),
    );
    rawWalls.push(performance.now() - at);
    await engine.remove(ids);
    agentWalls.push(await node.run(names));
    await node.remove(names);
  }
  row(`burst of ${n}, wall, best of ${agentWalls.length}`, Math.min(...agentWalls), Math.min(...rawWalls), cri ? 1 : 1.1);
  console.log(`  raw with 4, 10, ${n} at a time: ${rawWalls.map(ms).join(', ')}; agent: ${agentWalls.map(ms).join(', ')}`);

  const idle = Array.from({ length: Number(values.idle) }, (_, i) => `idle-${i}`);
  await node.run(idle);
  const { cpuPercent, rssMiB, maxRssMiB } = await node.atRest(Number(values['idle-seconds']));
  console.log(`${idle.length} idle pods over ${values['idle-seconds']} s: cpu ${cpuPercent.toFixed(2)} % of a core (bar 1 %)`);
  console.log(`${idle.length} idle pods: rss median ${rssMiB.toFixed(0)} MiB, max ${maxRssMiB.toFixed(0)} MiB (bar 120 MiB)`);
  await node.remove(idle);
} finally {
  await node.close();
}
process.exit();
