// npm run bench -- builds --against=CHECKOUT [--turns=5 --rounds=10 --burst=30 --idle-seconds=30 --pods=1000 --many-idle-seconds=225
// --engine=ENDPOINT]: this checkout's build against another's, without an API server: starts and rest on one engine, and what a pod costs on the
// embedded engine. Turn by turn, each first as often as the other, so that a slow moment of the machine hits both. Both are built first. Fails
// when a row's ratio is more than 1.05.
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { quantile } from './cluster-nodes.ts';
import { costOfPods } from './cost-of-pods.ts';
import { StandaloneNode } from './standalone-node.ts';

const BAR = 1.05;
const COLD_STARTS = 3;

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    /** Another checkout, with its node_modules. */
    against: { type: 'string', default: '' },
    turns: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '10' },
    burst: { type: 'string', default: '30' },
    'idle-seconds': { type: 'string', default: '30' },
    pods: { type: 'string', default: '1000' },
    /** Three rounds: an agent looks at each pod again 60 to 90 s after the last time. A shorter rest counts how many of them fell into it. */
    'many-idle-seconds': { type: 'string', default: '225' },
    engine: { type: 'string', default: '' },
  },
});

/** What was measured in all turns. */
class Measured {
  readonly coldMs: number[] = [];
  readonly singleMs: number[] = [];
  readonly burstMs: number[] = [];
  readonly restCpu: number[] = [];
  readonly restMiB: number[] = [];
  readonly startMs: number[] = [];
  readonly idleCpu: number[] = [];
  readonly manyMiB: number[] = [];
}

interface Build {
  readonly checkout: string;
  readonly measured: Measured;
}

const numbered = (what: string, count: string): readonly string[] => Array.from({ length: Number(count) }, (_, i) => `${what}-${i}`);

async function measure(node: StandaloneNode, { checkout, measured }: Build): Promise<void> {
  const idleSeconds = Number(values['idle-seconds']);
  measured.coldMs.push(...(await node.start(COLD_STARTS, { checkout })));
  for (const name of numbered('single', values.rounds)) {
    measured.singleMs.push(await node.run([name]));
    await node.remove([name]);
  }
  const burst = numbered('burst', values.burst);
  measured.burstMs.push(await node.run(burst));
  const rest = await node.atRest(idleSeconds);
  measured.restCpu.push(rest.cpuPercent);
  measured.restMiB.push(rest.rssMiB);
  await node.remove(burst);
  await node.stop();
  const cost = await costOfPods(Number(values.pods), Number(values['many-idle-seconds']), checkout);
  measured.startMs.push(cost.startMs);
  measured.idleCpu.push(cost.idle);
  measured.manyMiB.push(cost.rssMiB);
}

/** Whether the row is within the bar. */
function row(what: string, unit: string, pick: (measured: Measured) => readonly number[], q = 0.5): boolean {
  const [ours = Number.NaN, other = Number.NaN] = builds.map(({ measured }) => quantile(pick(measured), q));
  const ratio = ours / other;
  console.log(`${what}: ${ours.toFixed(2)} ${unit}, against ${other.toFixed(2)} ${unit}, ratio ${ratio.toFixed(2)} (bar ${BAR})`);
  return ratio <= BAR;
}

if (values.against === '') {
  console.error('builds wants --against=CHECKOUT');
  process.exit(2);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
const builds: readonly Build[] = [resolve(import.meta.dirname, '../..'), resolve(values.against)].map((checkout) => ({
  checkout,
  measured: new Measured(),
}));
// A checkout that is not built would run from its sources.
for (const { checkout } of builds)
  execFileSync(process.execPath, [join(checkout, 'hack/build.ts')], { stdio: ['ignore', 'ignore', 'inherit'] });
const node = await StandaloneNode.open(values.engine);
try {
  for (let turn = 0; turn < Number(values.turns); turn++) {
    console.error(`turn ${turn + 1} of ${values.turns} ...`);
    for (const build of turn % 2 === 0 ? builds : builds.toReversed()) await measure(node, build);
  }
} finally {
  await node.close();
}
const passed = [
  row('cold start to first reconcile, p50', 'ms', ({ coldMs }) => coldMs),
  row('single pod, p50', 'ms', ({ singleMs }) => singleMs),
  row('single pod, p90', 'ms', ({ singleMs }) => singleMs, 0.9),
  row(`burst of ${values.burst}, wall, p50`, 'ms', ({ burstMs }) => burstMs),
  row(`${values.burst} idle pods, cpu of a core`, '%', ({ restCpu }) => restCpu),
  row(`${values.burst} idle pods, rss`, 'MiB', ({ restMiB }) => restMiB),
  row(`${values.pods} pods embedded, cpu of a pod's start`, 'ms', ({ startMs }) => startMs),
  row(`${values.pods} pods embedded, idle cpu for each 1,000`, '%', ({ idleCpu }) => idleCpu),
  row(`${values.pods} pods embedded, rss`, 'MiB', ({ manyMiB }) => manyMiB),
].every(Boolean);
console.log(passed ? 'pass' : 'FAIL');
process.exit(passed ? 0 : 1);
