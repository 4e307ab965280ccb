import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { runValidate } from '../../../src/cli/validate.ts';
import { manifestTools } from '../../../src/sources/manifest-tools.ts';
import { aManifest } from '../../builders/a-manifest.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'validate-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const write = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};
async function validate(...argv: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let [out, err] = ['', ''];
  const io = { stdout: { write: (text: string) => (out += text) }, stderr: { write: (text: string) => (err += text) } };
  const code = await runValidate(argv, io, manifestTools({ nodeName: 'n1' }));
  return { code, out, err };
}

test('a valid manifest: exit code 0', async () => {
  const file = write('web.yaml', aManifest('web'));
  assert.deepEqual(await validate(file), { code: 0, out: `${file}: valid\n`, err: '' });
});

test('an invalid one: exit code 1 and a line for each fault', async () => {
  const file = write('web.yaml', `${aManifest('web')}    imgePullPolicy: Never\n  restartPolicy: Sometimes\n`);
  const { code, out } = await validate(file);
  assert.equal(code, 1);
  assert.deepEqual(out.trimEnd().split('\n'), [
    `${file}:10:18 spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"`,
    `${file}:9:5 spec.containers[0].imgePullPolicy: unknown field, ignored (did you mean "imagePullPolicy"?) (warning)`,
  ]);
});

test('as JSON: one object per file, with the types and fields that Kubernetes names', async () => {
  const bad = write('a.yaml', `${aManifest('web')}  restartPolicy: Sometimes\n`);
  const worse = write('b.yaml', 'apiVersion: v1\n');
  const good = write('c.yaml', aManifest('good'));
  for (const flags of [['--output=json'], ['--output', 'json'], ['-o', 'json']]) {
    const { code, out } = await validate(directory, ...flags);
    assert.equal(code, 1);
    const reports = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    assert.deepEqual(reports, [
      {
        file: bad,
        valid: false,
        errors: [
          {
            type: 'FieldValueNotSupported',
            field: 'spec.restartPolicy',
            detail: 'supported values: "Always", "OnFailure", "Never"',
            line: 9,
            column: 18,
          },
        ],
      },
      {
        file: worse,
        valid: false,
        errors: [{ type: 'missingKind', field: 'kind', detail: 'expected kind: Pod, found nothing', line: 1, column: 1 }],
      },
      { file: good, valid: true, errors: [] },
    ]);
  }
});

test('what cannot be read: exit code 2, and the others are validated all the same', async () => {
  const file = write('web.yaml', aManifest('web'));
  const { code, out, err } = await validate('/does/not/exist', file);
  assert.equal(code, 2);
  assert.equal(out, `${file}: valid\n`);
  assert.match(err, /^\/does\/not\/exist: cannot be read: ENOENT/);
});

test('of a directory what can be read is validated, and what cannot is named', async () => {
  const file = write('b.yaml', aManifest('web'));
  symlinkSync('a.yaml', join(directory, 'a.yaml'));
  symlinkSync('nothing', join(directory, 'c.yaml'));
  mkdirSync(join(directory, 'd.yaml'));
  const { code, out, err } = await validate(directory);
  assert.deepEqual([code, out], [2, `${file}: valid\n`]);
  assert.match(err, /^\S+\/a\.yaml: cannot be read: ELOOP.*\n\S+\/c\.yaml: cannot be read: ENOENT.*\n$/);
});

test('a directory without manifests is valid, and that is said', async () => {
  write('.hidden.yaml', 'nonsense');
  assert.deepEqual(await validate(directory), { code: 0, out: '', err: `${directory}: no manifests\n` });
});

test('flags may stand anywhere, and after -- there are only paths', async () => {
  const file = write('-o', aManifest('web'));
  assert.equal((await validate(directory, '-ojson')).out, `${JSON.stringify({ file, valid: true, errors: [] })}\n`);
  assert.match((await validate('--', '-o')).err, /^-o: cannot be read/);
  assert.match((await validate('--ouput=json', file)).err, /^unknown flag --ouput; did you mean --output\?\n/);
  assert.match((await validate(file, '--output')).err, /^--output needs a value\n/);
});

test('two files of a directory that name one pod are told apart', async () => {
  const first = write('a.yaml', aManifest('web'));
  const second = write('b.yaml', aManifest('web', 'other'));
  write('b.yaml.bak', 'nonsense');
  const { code, out } = await validate(directory);
  assert.equal(code, 1);
  assert.equal(
    out,
    `${first}: valid\n${second}:1:1 metadata.name: Duplicate value: "default/web": ${first} declares this pod too, and only that one would run\n`,
  );
});

test('wrong usage: exit code 2; --help: 0', async () => {
  assert.equal((await validate()).code, 2);
  assert.equal((await validate('--nope')).code, 2);
  assert.equal((await validate('x', '--output=xml')).code, 2);
  const { code, out } = await validate('--help');
  assert.equal(code, 0);
  assert.match(out, /Usage: rxlet validate/);
});

test('what would not be honoured is a warning: the manifest is valid', async () => {
  const file = write('web.yaml', `${aManifest('web')}  securityContext: {windowsOptions: {runAsUserName: me}}\n`);
  const { code, out } = await validate(file);
  assert.equal(code, 0);
  assert.match(out, /^\S+web\.yaml:\d+:\d+ spec\.securityContext\.windowsOptions: ignored: .* \(warning\)\n\S+: valid\n$/);
});
