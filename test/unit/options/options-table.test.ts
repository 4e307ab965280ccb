import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptedOptions } from '../../../src/options/accepted-options.ts';
import { helpText } from '../../../src/options/help-text.ts';
import { flagsOf } from '../../../src/options/option.ts';
import { allOptions } from '../../../src/options/options-table.ts';
import { configFields } from '../../builders/config-fields.ts';
import { kubeletFlags } from '../../builders/kubelet-flags.ts';

test('every flag and every config field is declared once', () => {
  const declared = [...allOptions.map(([, { flag, aliases, config }]) => ({ flag, aliases, config })), ...acceptedOptions];
  const names = declared
    .flatMap((option) => [
      option.flag === undefined ? [] : [`--${option.flag}`],
      'aliases' in option ? (option.aliases ?? []).map((alias) => `--${alias}`) : [],
      option.config === undefined ? [] : [option.config],
    ])
    .flat();
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
});

test('every option can be set: by a flag, in the config file, or both', () => {
  assert.deepEqual(
    allOptions.filter(([, { flag, config }]) => flag === undefined && config === undefined),
    [],
  );
});

test('every default can be shown and read back', () => {
  for (const [name, { kind, default: value }] of allOptions) {
    if (value === undefined || value === null) continue;
    assert.deepEqual(kind.parse(kind.show(value)), value, name);
  }
});

test('help names every honoured flag and keeps to its width', () => {
  const text = helpText(80);
  for (const [, { flag }] of allOptions) if (flag !== undefined) assert.match(text, new RegExp(`--${flag}\\b`));
  for (const line of text.split('\n').slice(5)) assert(line.length <= 90, line);
});

test("every field of today's KubeletConfiguration is known", () => {
  const known = new Set([...allOptions.map(([, option]) => option), ...acceptedOptions].map(({ config }) => config));
  assert.deepEqual(
    configFields.filter((field) => !known.has(field)),
    [],
  );
});

test("every flag of today's kubelet is known", () => {
  const known = new Set([...allOptions.flatMap(([, option]) => flagsOf(option)), ...acceptedOptions.map(({ flag }) => flag)]);
  assert.deepEqual(
    kubeletFlags.filter((flag) => !known.has(flag)),
    [],
  );
});
