// Fails when a module imports sideways or upwards, uses a vendor library outside its owner's folder, or goes past the clock.
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { layerFaults } from './layer-faults.ts';
import { timeFaults } from './time-faults.ts';

const src = resolve(import.meta.dirname, '../src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(resolve(src, path), 'utf8') }));
const { imports, faults: ofLayers } = layerFaults(files);
const ofTime = files
  .filter(({ path }) => !path.startsWith('base/'))
  .flatMap(({ path, text }) => timeFaults(text).map((fault) => `src/${path}: ${fault}`));
const faults = [...ofLayers, ...ofTime];
// A check that reads nothing would pass for ever.
if (imports === 0) faults.push('no imports found');
for (const fault of faults) console.error(fault);
console.log(`layers: ${imports} imports read, ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;
