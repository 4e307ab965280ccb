// Prints a CycloneDX bill of materials: node hack/bill-of-materials.ts x64|arm64. What is in the bundle comes from the lists that the build leaves of
// it, versions and sums from the lock file. It has neither a time nor a number of its own, so that the same release makes the same bytes.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
}
const root = resolve(import.meta.dirname, '..');
const read = (name: string): unknown => JSON.parse(readFileSync(join(root, name), 'utf8'));
const { version, license } = read('package.json') as { version: string; license: string };
const { packages } = read('package-lock.json') as { packages: Readonly<Record<string, Locked>> };
const [arch = 'x64'] = process.argv.slice(2);
const bundled = read('dist/bundled-packages.json') as readonly string[];

const components = [...bundled, `node_modules/node-linux-${arch}`].map((directory) => {
  const name = directory.slice(directory.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const locked = packages[directory];
  if (locked?.version === undefined) throw new Error(`package-lock.json does not have ${directory}: run npm ci and npm run build`);
  const purl = `pkg:npm/${name.replace('@', '%40')}@${locked.version}`;
  const [algorithm = '', sum = ''] = locked.integrity?.split('-') ?? [];
  return {
    type: name.startsWith('node-linux-') ? 'platform' : 'library',
    'bom-ref': purl,
    name,
    version: locked.version,
    purl,
    ...(algorithm === 'sha512' && { hashes: [{ alg: 'SHA-512', content: Buffer.from(sum, 'base64').toString('hex') }] }),
    ...(locked.license !== undefined && { licenses: [{ expression: locked.license }] }),
  };
});
const own = `pkg:npm/rxlet@${version}`;
const bill = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: { component: { type: 'application', 'bom-ref': own, name: 'rxlet', version, purl: own, licenses: [{ expression: license }] } },
  components,
  dependencies: [{ ref: own, dependsOn: components.map((component) => component['bom-ref']) }],
};
console.log(JSON.stringify(bill, null, 2));
