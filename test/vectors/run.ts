// npm run vectors -- DIR [--skip-unknown] [--only=SUITE,…]: runs every DIR/SUITE.json through test/vectors/adapters/SUITE.ts.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

interface Case {
  readonly name: string;
  readonly in: unknown;
  readonly out: unknown;
}
interface Suite {
  readonly suite?: string;
  readonly doc: string;
  readonly cases: readonly Case[];
}
/** An adapter turns a case's `in` into what the project says; `same` may loosen the comparison as the suite's doc allows. */
interface Adapter {
  readonly run: (input: never) => unknown;
  readonly same?: (actual: unknown, expected: never) => boolean;
}

const flags = process.argv.slice(2).filter((a) => a.startsWith('--'));
const dirs = process.argv.slice(2).filter((a) => !a.startsWith('--'));
const only = flags
  .find((f) => f.startsWith('--only='))
  ?.slice('--only='.length)
  .split(',');
if (dirs.length === 0 || flags.some((flag) => flag !== '--skip-unknown' && !flag.startsWith('--only='))) {
  console.error('usage: npm run vectors -- DIR... [--skip-unknown] [--only=SUITE,...]');
  process.exit(2);
}
/** Null and absent are the same in these files; object keys have no order. */
const normal = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((v) => normal(v) ?? null);
  if (value === null || value === undefined) return undefined;
  if (typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([k, v]) => [k, normal(v)] as const);
  return Object.fromEntries(entries.filter(([, v]) => v !== undefined).sort(([a], [b]) => (a < b ? -1 : 1)));
};
const exceptionsFile = join(import.meta.dirname, 'exceptions.json');
const exceptions: Record<string, Record<string, string>> = existsSync(exceptionsFile)
  ? JSON.parse(readFileSync(exceptionsFile, 'utf8'))
  : {};

/** Undefined: it cannot be read, which has been said. */
function suiteIn(path: string): Suite | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Suite;
  } catch (error) {
    console.log(`FAIL ${path}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

let passed = 0;
let failed = 0;
let excepted = 0;
const unknown: string[] = [];
for (const dir of dirs) {
  const files = readdirSync(resolve(dir)).filter((f) => f.endsWith('.json') && f !== 'exceptions.json');
  for (const file of files.sort()) {
    const name = basename(file, '.json');
    if (only && !only.includes(name)) continue;
    const suite = suiteIn(join(resolve(dir), file));
    if (suite === undefined) {
      failed++;
      continue;
    }
    const adapterFile = join(import.meta.dirname, 'adapters', `${name}.ts`);
    if (!existsSync(adapterFile)) {
      unknown.push(name);
      if (!flags.includes('--skip-unknown')) failed += suite.cases.length;
      continue;
    }
    const adapter = (await import(adapterFile)) as Adapter;
    let suiteFailed = 0;
    for (const test of suite.cases) {
      let actual: unknown;
      let ok = false;
      try {
        actual = adapter.run(test.in as never);
        if (actual instanceof Promise) actual = await actual;
        ok = adapter.same ? adapter.same(actual, test.out as never) : isDeepStrictEqual(normal(actual), normal(test.out));
      } catch (error) {
        actual = error instanceof Error ? error.stack : error;
      }
      if (ok) passed++;
      else if (exceptions[name]?.[test.name] !== undefined) excepted++;
      else {
        suiteFailed++;
        console.log(
          `FAIL ${name}: ${test.name}\n  in:       ${JSON.stringify(test.in)}\n  expected: ${JSON.stringify(test.out)}\n  actual:   ${typeof actual === 'string' ? actual : JSON.stringify(actual)}`,
        );
      }
    }
    failed += suiteFailed;
    console.log(`${name}: ${suite.cases.length - suiteFailed} of ${suite.cases.length}`);
  }
}
if (unknown.length > 0) console.log(`no adapter${flags.includes('--skip-unknown') ? ' (skipped)' : ''}: ${unknown.join(', ')}`);
if (excepted > 0) console.log(`${excepted} excepted, see exceptions.json`);
if (passed + failed === 0) {
  console.log('no vectors found');
  failed = 1;
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
