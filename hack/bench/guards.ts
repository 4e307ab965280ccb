// npm run bench -- guards [--against=CHECKOUT --turns=3 --pods=50 --idle-seconds=60 --engine=ENDPOINT]: what it costs at rest to keep a full
// node working: cgroups, eviction, removal of images and dead containers. The same build with these and without, on one engine, turn by
// turn; and with --against another one, of before. Each is built first. Fails where all of it takes more than 0.3 % of a core or 5 MiB.
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../../test/integration/agent/free-port.ts';
import { quantile } from './cluster-nodes.ts';
import { type AgentUnderBench, StandaloneNode } from './standalone-node.ts';

const CPU_BAR_PERCENT = 0.3;
const MEMORY_BAR_MIB = 5;

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    /** Another checkout, with its node_modules. */
    against: { type: 'string', default: '' },
    turns: { type: 'string', default: '3' },
    pods: { type: 'string', default: '50' },
    'idle-seconds': { type: 'string', default: '60' },
    engine: { type: 'string', default: '' },
  },
});

interface Side extends AgentUnderBench {
  readonly what: string;
  readonly cpuPercent: number[];
  readonly rssMiB: number[];
}

const side = (what: string, flags: readonly string[], checkout: string): Side => ({ what, flags, checkout, cpuPercent: [], rssMiB: [] });

const ours = resolve(import.meta.dirname, '../..');
const without = ['--cgroups-per-qos=false', '--enforce-node-allocatable=', '--eviction-hard=', '--image-gc-high-threshold=100'];
const guarded = side('with all', [], ours);
const others = [side('without', without, ours), ...(values.against === '' ? [] : [side('before', [], resolve(values.against))])];
const sides = [guarded, ...others];

async function measure(node: StandaloneNode, { checkout = ours, flags = [], cpuPercent, rssMiB }: Side): Promise<void> {
  const ports = [`--port=${await freePort()}`, '--healthz-port=0'];
  await node.start(0, { checkout, flags: [...ports, ...flags] });
  const pods = Array.from({ length: Number(values.pods) }, (_, i) => `idle-${i}`);
  await node.run(pods);
  const rest = await node.atRest(Number(values['idle-seconds']));
  cpuPercent.push(rest.cpuPercent);
  rssMiB.push(rest.rssMiB);
  await node.remove(pods);
  await node.stop();
}

/** Whether all of it costs no more than the bar, held against `other`. */
function row(other: Side): boolean {
  const [cpu, otherCpu] = [guarded, other].map(({ cpuPercent }) => quantile(cpuPercent, 0.5));
  const [rss, otherRss] = [guarded, other].map(({ rssMiB }) => quantile(rssMiB, 0.5));
  const [moreCpu, moreRss] = [(cpu ?? Number.NaN) - (otherCpu ?? Number.NaN), (rss ?? Number.NaN) - (otherRss ?? Number.NaN)];
  const show = (value: number | undefined): string => value?.toFixed(2) ?? 'nothing';
  console.log(
    `${values.pods} idle pods, cpu of a core: ${show(cpu)} %, ${other.what} ${show(otherCpu)} %, ${show(moreCpu)} more (bar ${CPU_BAR_PERCENT})`,
  );
  console.log(
    `${values.pods} idle pods, rss: ${show(rss)} MiB, ${other.what} ${show(otherRss)} MiB, ${show(moreRss)} more (bar ${MEMORY_BAR_MIB})`,
  );
  return moreCpu <= CPU_BAR_PERCENT && moreRss <= MEMORY_BAR_MIB;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
for (const checkout of new Set(sides.map((each) => each.checkout ?? ours)))
  execFileSync(process.execPath, [join(checkout, 'hack/build.ts')], { stdio: ['ignore', 'ignore', 'inherit'] });
const node = await StandaloneNode.open(values.engine);
try {
  for (let turn = 0; turn < Number(values.turns); turn++) {
    for (const each of turn % 2 === 0 ? sides : sides.toReversed()) {
      await measure(node, each);
      console.error(`turn ${turn + 1}, ${each.what}: ${each.cpuPercent.at(-1)?.toFixed(2)} %, ${each.rssMiB.at(-1)?.toFixed(1)} MiB`);
    }
  }
} finally {
  await node.close();
}
const passed = others.map(row).every(Boolean);
console.log(passed ? 'pass' : 'FAIL');
process.exit(passed ? 0 : 1);
