import { posix } from 'node:path';

/** base ← model ← options ← ports ← islands (every other folder) ← files directly in src/. The queue is for all islands that have work to do. */
const rank: Record<string, number> = { base: 0, model: 1, options: 2, ports: 3, 'agent/queue': 3.5 };
const ISLAND = 4;
/** What the other folders of its house share, and nobody else may use. */
const shared: Record<string, { readonly house: string; readonly rank: number }> = { 'engines/common': { house: 'engines', rank: 3.5 } };
/** Each folder of a house is an island of its own; the files directly in the house join them. */
const houses: ReadonlySet<string> = new Set(['agent', 'cluster', 'engines']);
/** Who may import a vendor library's code; its types are everybody's. */
const owners: Record<string, readonly string[]> = {
  dockerode: ['engines/docker'],
  '@bufbuild/protobuf': ['base', 'deviceplugins', 'engines/cri', 'podresources'],
  '@kubernetes/client-node': ['cluster/kube'],
  undici: ['cluster/kube'],
  zod: ['options'],
  pino: ['base'],
  'prom-client': ['metrics'],
  ws: ['server'],
};
const LIST = 'capabilities.ts';
const LIST_READER = 'run-agent.ts';
/** Of a folder, or of what joins the folders of a house. */
const CAPABILITY = /(?:^|-)capability\.ts$/;

export interface SourceFile {
  /** From src/, with slashes. */
  readonly path: string;
  readonly text: string;
}

/**
 * What the imports of these files have against the layers: sideways or upwards, a vendor library outside its owner's folder, a capability
 * that is imported past the list, the list by another than the agent.
 */
export function layerFaults(files: readonly SourceFile[]): { readonly imports: number; readonly faults: readonly string[] } {
  const faults: string[] = [];
  let imports = 0;
  for (const { path, text } of files) {
    for (const { isType, specifier } of importsOf(text)) {
      imports++;
      const to = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined;
      const owner = owners[specifier];
      const smuggled = !isType && owner !== undefined && !owner.some((folder) => path.startsWith(`${folder}/`));
      if (smuggled || (to !== undefined && isForbidden(path, to))) faults.push(`src/${path}: must not import ${specifier}`);
    }
  }
  return { imports, faults };
}

function* importsOf(text: string): Generator<{ readonly isType: boolean; readonly specifier: string }> {
  for (const [, type, specifier = ''] of text.matchAll(/^(?:import|export) (type )?[^;'"]*?from '([^']+)'/gms))
    yield { isType: type !== undefined, specifier };
  for (const [, specifier = ''] of text.matchAll(/\bimport\('([^']+)'\)/g)) yield { isType: false, specifier };
  for (const [, specifier = ''] of text.matchAll(/^import '([^']+)'/gm)) yield { isType: false, specifier };
}

function isForbidden(from: string, to: string): boolean {
  if (to === LIST) return from !== LIST_READER;
  if (CAPABILITY.test(posix.basename(to)) && unitOf(to) !== 'ports') return from !== LIST;
  if (!from.includes('/')) return false;
  const [here, there] = [unitOf(from), unitOf(to)];
  if (here === there) return false;
  // What joins the folders of a house.
  if (houses.has(here) && there.startsWith(`${here}/`)) return false;
  const common = shared[there];
  if (common !== undefined && !here.startsWith(`${common.house}/`)) return here !== common.house;
  return rankOf(there) >= rankOf(here);
}

/** The folder that a file belongs to; '' for the files directly in src/. */
function unitOf(path: string): string {
  const [house = '', room] = posix.dirname(path).split('/');
  if (house === '.') return '';
  return houses.has(house) && room !== undefined ? `${house}/${room}` : house;
}

function rankOf(unit: string): number {
  return unit === '' ? ISLAND + 1 : (rank[unit] ?? shared[unit]?.rank ?? ISLAND);
}
