// npm run bench -- scale [--few=1000 --many=5000 --idle-seconds=225]: what a pod costs the agent among few and among many, on the embedded
// engine, in CPU time. Fails when a pod among many costs more than 1.3 times as much.
import { parseArgs } from 'node:util';
import { type CostOfPods, costOfPods } from './cost-of-pods.ts';

const BAR = 1.3;

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    few: { type: 'string', default: '1000' },
    many: { type: 'string', default: '5000' },
    /** See builds.ts. */
    'idle-seconds': { type: 'string', default: '225' },
  },
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
const counts = [Number(values.few), Number(values.many)] as const;
const told = async (pods: number): Promise<CostOfPods> => {
  const cost = await costOfPods(pods, Number(values['idle-seconds']));
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
