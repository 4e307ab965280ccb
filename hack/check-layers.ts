// Fails when a module imports sideways or upwards, uses a vendor library outside its owner's folder, or goes past the clock.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { timeFaults } from './time-faults.ts';

/** base ← model ← ports ← islands (every other folder). Files directly in src/ are the composition root and may import anything. */
const rank: Record<string, number> = { base: 0, model: 1, ports: 2 };
const ISLAND = 3;
const owners: Record<string, readonly string[]> = {
  dockerode: ['docker'],
  '@kubernetes/client-node': ['kube'],
  undici: ['kube'],
  zod: ['options'],
  pino: ['base'],
  'prom-client': ['metrics'],
  ws: ['server'],
};

const src = resolve(import.meta.dirname, '../src');
const folderOf = (file: string): string => relative(src, file).split('/')[0] ?? '';
const faults: string[] = [];
let imports = 0;
for (const entry of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
  if (!entry.endsWith('.ts')) continue;
  const file = resolve(src, entry);
  const source = readFileSync(file, 'utf8');
  const from = folderOf(file);
  if (from !== 'base') faults.push(...timeFaults(source).map((fault) => `src/${entry}: ${fault}`));
  if (!entry.includes('/')) continue;
  for (const [, type, specifier = ''] of source.matchAll(/^(?:import|export) (type )?[^;'"]*?from '([^']+)'/gms)) {
    imports++;
    const to = specifier.startsWith('.') ? folderOf(resolve(dirname(file), specifier)) : undefined;
    const sideways = to !== undefined && to !== from && (rank[to] ?? ISLAND) >= (rank[from] ?? ISLAND);
    const smuggled = type === undefined && owners[specifier] !== undefined && !owners[specifier].includes(from);
    if (sideways || smuggled) faults.push(`src/${entry}: must not import ${specifier}`);
  }
}
for (const fault of faults) console.error(fault);
// A check that reads nothing would pass for ever.
if (imports === 0) faults.push('no imports found');
console.log(`layers: ${imports} imports read, ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;
