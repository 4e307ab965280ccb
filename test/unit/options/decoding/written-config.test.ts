import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { configFields } from '../../../../src/options/decoding/config-fields.ts';
import { gatesIn, withDefaults } from '../../../../src/options/decoding/default-settings.ts';
import { readConfigText } from '../../../../src/options/decoding/read-config-text.ts';
import { writtenConfig } from '../../../../src/options/decoding/written-config.ts';
import { featureGates } from '../../../../src/options/feature-gates/feature-gates.ts';

interface Suite {
  readonly cases: readonly { readonly name: string; readonly in: { readonly text: string } }[];
}

test('what is written is a config file that means the same, and has every default already', async () => {
  const suite = JSON.parse(await readFile(join(import.meta.dirname, '../../../vectors/kubeletConfig36.json'), 'utf8')) as Suite;
  let seen = 0;
  for (const { name, in: given } of suite.cases) {
    const { settings, problems } = await readConfigText(given.text, 'f');
    const gates = featureGates(gatesIn(settings));
    // An empty list is not written, and would then be the default again.
    if (problems.length > 0 || gates.faults.length > 0 || name === 'enforceNodeAllocatable an empty list') continue;
    const complete = withDefaults(settings, gates);
    const again = await readConfigText(JSON.stringify(writtenConfig(complete)), 'g');
    assert.deepEqual([again.problems, again.warnings], [[], []], name);
    assert.deepEqual(writtenConfig(withDefaults(again.settings, gates)), writtenConfig(complete), name);
    seen++;
  }
  assert.ok(seen > 200);
});

test('of nothing every field with a default is written', () => {
  const complete = withDefaults(new Map(), featureGates({}));
  for (const { path, unset } of configFields.values())
    assert.equal(complete.has(path), unset !== undefined || path === 'serializeImagePulls', path);
});
