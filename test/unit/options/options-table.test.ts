import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { completeHelpText, helpText } from '../../../src/options/help-text.ts';
import { idleOptions } from '../../../src/options/idle-options.ts';
import { flagsOf } from '../../../src/options/option.ts';
import { allOptions } from '../../../src/options/options-table.ts';
import { configFields } from '../../builders/config-fields.ts';
import { kubeletFlags } from '../../builders/kubelet-flags.ts';
import { configFieldsOf120, configFieldsOf13, flagsOf0, flagsOf120 } from '../../builders/older-options.ts';

const flags = [...allOptions.flatMap(([, option]) => flagsOf(option)), ...idleOptions.flatMap(({ flag }) => flag ?? [])];
const fields = [
  ...allOptions.flatMap(([, { config, formerField }]) => [config ?? [], formerField ?? []].flat()),
  ...idleOptions.flatMap(({ config }) => config ?? []),
];

test('every flag and every config field is declared once', () => {
  for (const names of [flags, fields]) {
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
  }
});

for (const [what, names, known] of [
  ["every flag of today's kubelet", kubeletFlags, flags],
  ['every flag of the kubelet of 1.20', flagsOf120, flags],
  ['every flag of kubelets before 1.0', flagsOf0.map((flag) => flag.replaceAll('_', '-')), flags],
  ["every field of today's KubeletConfiguration", configFields, fields],
  ['every field of that of 1.20', configFieldsOf120, fields],
  ['every field of that of 1.3', configFieldsOf13, fields],
] as const) {
  test(`${what} is known`, () => {
    assert.deepEqual(
      names.filter((name) => !known.includes(name)),
      [],
    );
  });
}

test('every option can be set: by a flag, in the config file, or both', () => {
  assert.deepEqual(
    [...allOptions.map(([, option]) => option), ...idleOptions].filter(({ flag, config }) => flag === undefined && config === undefined),
    [],
  );
});

/** Decided where options are read: what the rest of the agent sees of them has another name, or is another option's value. */
const decidedThere = [
  'hostnameOverride',
  'configFile',
  'configDirectory',
  'mergeDefaultEvictionSettings',
  'dockerEndpoint',
  'containerRuntimeEndpoint',
  'qosReserved',
];
/** Of logs that the engine does not rotate by itself, as Docker does. */
const ofOtherEngines = ['containerLogMonitorIntervalMs', 'containerLogMaxWorkers'];
const comments = /\/\*[^]*?\*\/|\/\/.*/g;

test('every option that is said to work is read by the agent', () => {
  const source = join(import.meta.dirname, '../../../src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('options/'),
  );
  const read = new Set(
    files.flatMap(
      (file) =>
        readFileSync(join(source, file), 'utf8')
          .replaceAll(comments, '')
          .match(/\b[a-z]\w+\b/gi) ?? [],
    ),
  );
  assert.deepEqual(
    allOptions.map(([name]) => name).filter((name) => !read.has(name) && ![...decidedThere, ...ofOtherEngines].includes(name)),
    [],
  );
});

test('every option that decides nothing says why, in one sentence', () => {
  for (const option of idleOptions) {
    const why = 'noMeaning' in option ? option.noMeaning : option.refused;
    assert.match(why, /^\S.{10,}[^.]$/, option.flag ?? option.config);
    assert.doesNotMatch(why, /\. [A-Z]/, option.flag ?? option.config);
  }
});

test('every default can be shown and read back', () => {
  for (const [name, { kind, default: value }] of allOptions) {
    if (value === undefined || value === null) continue;
    assert.deepEqual(kind.parse(kind.show(value)), value, name);
  }
});

test('complete help names every flag and keeps to its width', () => {
  const text = completeHelpText(80);
  for (const [, { flag }] of allOptions) if (flag !== undefined) assert.match(text, new RegExp(`--${flag}\\b`));
  for (const { flag } of idleOptions) if (flag !== undefined) assert.match(text, new RegExp(`--${flag}\\b`));
  for (const line of text.split('\n').slice(5)) assert(line.length <= 90, line);
});

test('help is short: common flags by group, a sentence each, and how to see the others', () => {
  const lines = helpText(80).split('\n');
  assert.ok(lines.length < 120, `${lines.length} lines`);
  assert.match(lines.join('\n'), /--pod-manifest-path string\n {10}A directory of pod manifests to run, or one manifest file\.\n/);
  assert.match(lines.join('\n'), /rxlet --help --all/);
  for (const line of lines) assert(line.length <= 90, line);
});
