// Says what became of a run of Kubernetes' end-to-end specs: node hack/e2e/report.ts OUT [--must FILE] [--reference OUT]
// OUT holds the run's JUnit files and its duration. Ends with 1 where a spec failed that must pass: one of FILE's, or one that passed in
// the other run; without either, any.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';

interface Run {
  readonly name: string;
  readonly seconds: number;
  readonly passed: ReadonlySet<string>;
  /** Names with the first line of what went wrong. */
  readonly failed: ReadonlyMap<string, string>;
}

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
const decoded = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return entities[name] ?? whole;
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
  });
/** After the place in the source comes what went wrong, behind a time of day. */
const cause = (failure: string): string => {
  const lines = decoded(failure)
    .split('\n')
    .map((line) => line.replace(/^[A-Z][a-z]{2} [ \d]\d [\d:.]+: /, '').trim());
  return lines.filter((line) => line !== '' && !/^\/\S+:\d+$/.test(line)).at(0) ?? '';
};

const readRun = (folder: string): Run => {
  const passed = new Set<string>();
  const failed = new Map<string, string>();
  for (const file of globSync(join(folder, 'junit*.xml'))) {
    for (const [, name = '', closed, body = ''] of readFileSync(file, 'utf8').matchAll(
      /<testcase name="([^"]*)"[^>]*?(?:(\/)>|>([\s\S]*?)<\/testcase>)/g,
    )) {
      const failure = /<failure[^>]*>([\s\S]*?)<\/failure>/.exec(body)?.[1];
      if (failure !== undefined) failed.set(decoded(name), cause(failure));
      else if (closed !== undefined || !body.includes('<skipped')) passed.add(decoded(name));
    }
  }
  const duration = join(folder, 'seconds');
  return { name: basename(folder), seconds: existsSync(duration) ? Number(readFileSync(duration, 'utf8')) : 0, passed, failed };
};

const tell = (run: Run, must: ReadonlySet<string>): void => {
  console.log(
    `${run.name}: ${run.passed.size} passed, ${run.failed.size} failed, in ${Math.floor(run.seconds / 60)} min ${run.seconds % 60} s`,
  );
  for (const [name, why] of [...run.failed].sort(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`  failed: ${name}${must.size > 0 && !must.has(name) ? ' (not among those that must pass)' : ''}\n    ${why}`);
  }
};

const { values, positionals } = parseArgs({ allowPositionals: true, options: { must: { type: 'string' }, reference: { type: 'string' } } });
const folder = positionals[0];
if (folder === undefined) throw new Error('usage: node hack/e2e/report.ts OUT [--must FILE] [--reference OUT]');
const run = readRun(folder);
const reference = values.reference === undefined ? undefined : readRun(values.reference);
const listed = values.must === undefined ? [] : readFileSync(values.must, 'utf8').split('\n').filter(Boolean);
// Without a list the reference is the measure, where it was run.
const must = new Set(listed.length > 0 ? listed : (reference?.passed ?? run.failed.keys()));

tell(run, new Set(listed));
if (reference !== undefined) tell(reference, new Set(listed));
const missing = [...must].filter((name) => !run.passed.has(name)).sort();
if (listed.length > 0 || reference !== undefined)
  for (const name of missing) console.log(`must pass, but ${run.failed.has(name) ? 'failed' : 'did not run'}: ${name}`);
if (run.passed.size === 0) console.log('no spec passed: see specs.log');
process.exitCode = missing.length === 0 && run.passed.size > 0 ? 0 : 1;
