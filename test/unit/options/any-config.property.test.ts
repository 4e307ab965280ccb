import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { loadOptions, OptionsError } from '../../../src/options/load-options.ts';
import { configFields } from '../../builders/config-fields.ts';

const scalar = fc.oneof(
  fc.constantFrom(
    null,
    true,
    false,
    0,
    -1,
    1,
    5,
    100,
    65_536,
    2 ** 31,
    1.5,
    '',
    '0',
    '0s',
    '5s',
    '-5s',
    '1m',
    'none',
    'x',
    '10%',
    '1Gi',
    '/a',
    'a/../b',
    '1.2.3.4',
  ),
  fc.string({ maxLength: 8 }),
  fc.integer(),
);
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(
    fc.constantFrom(
      'memory.available',
      'memory',
      'key',
      'effect',
      'numaNode',
      'limits',
      'priority',
      'filePattern',
      'MemoryQoS',
      '__proto__',
    ),
    scalar,
  ),
  fc.array(
    fc.dictionary(
      fc.constantFrom('key', 'value', 'effect', 'timeAdded', 'numaNode', 'limits', 'priority', 'filePattern', 'verbosity'),
      scalar,
    ),
    { maxLength: 2 },
  ),
);
const config = fc.array(fc.tuple(fc.constantFrom(...configFields, 'nope', 'logging', 'authentication.x509'), value), { maxLength: 3 });

/** A config file with these fields, in JSON. */
function written(fields: readonly (readonly [path: string, value: unknown])[]): string {
  const root: Record<string, unknown> = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
  for (const [path, given] of fields) {
    const steps = path.split('.');
    const last = steps.pop() ?? '';
    let at = root;
    for (const step of steps) {
      const there = at[step];
      const inner: Record<string, unknown> = typeof there === 'object' && there !== null && !Array.isArray(there) ? { ...there } : {};
      at[step] = inner;
      at = inner;
    }
    at[last] = given;
  }
  return JSON.stringify(root);
}

const isRefused = (error: unknown): void => assert.ok(error instanceof OptionsError, String(error));

test('whatever a config file and its drop-in files say, they are taken, or refused in sentences', async () => {
  await fc.assert(
    fc.asyncProperty(config, config, async (main, dropIn) => {
      const texts = new Map([
        ['main', written(main)],
        ['d/a.conf', written(dropIn)],
      ]);
      const environment = {
        hostname: 'n1',
        terminal: false,
        readFile: (path: string) => Promise.resolve(texts.get(path) ?? ''),
        listFiles: () => Promise.resolve(['a.conf']),
      };
      for (const argv of [['--config=main'], ['--config=main', '--config-dir=d']]) await loadOptions(argv, environment).catch(isRefused);
    }),
    { numRuns: 100 },
  );
});
