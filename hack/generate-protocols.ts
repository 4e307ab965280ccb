// Makes the code for each protocol file in src/: beside NAME.proto its NAME_pb.js and NAME_pb.d.ts. `--check` fails when they are not up to date;
// what it has found to be so is not made again until something of it changes.
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const src = join(root, 'src');
const check = process.argv.includes('--check');
const folders = new Set(
  readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.proto'))
    .map((path) => join(src, dirname(path))),
);
// A check that reads nothing would pass for ever.
if (folders.size === 0) throw new Error('no protocol files found under src/');
const stampFile = join(root, '.cache/protocols-stamp');
if (!check || !existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp()) {
  for (const folder of folders) {
    for (const [name, text] of generated(folder)) {
      const path = join(folder, name);
      if (!check) writeFileSync(path, text);
      else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
        console.error(`${path} is not what its protocol file makes: run npm run protocols`);
        process.exitCode = 1;
      }
    }
  }
  mkdirSync(dirname(stampFile), { recursive: true });
  if (process.exitCode === undefined) writeFileSync(stampFile, stamp());
}

/** Of all that goes in and comes out. */
function stamp(): string {
  const files = [...folders].flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  const all = [...files.filter((path) => /\.proto$|_pb\.(?:js|d\.ts)$/.test(path)), join(root, 'package-lock.json')];
  return hash('sha256', all.map((path) => `${path} ${hash('sha256', readFileSync(path))}\n`).join(''));
}

/** JavaScript with its types: the generator's TypeScript has enums, which Node does not strip. */
function generated(folder: string): readonly (readonly [name: string, text: string])[] {
  const out = mkdtempSync(join(tmpdir(), 'rxlet-protocols-'));
  try {
    const plugins = [{ local: [process.execPath, bin('protoc-gen-es')], out, opt: ['target=js+dts'] }];
    const template = JSON.stringify({ version: 'v2', plugins });
    execFileSync(process.execPath, [bin('buf'), 'generate', folder, '--template', template], { cwd: root, stdio: 'inherit' });
    return readdirSync(out).map((name) => [name, readFileSync(join(out, name), 'utf8')] as const);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function bin(name: string): string {
  return join(root, 'node_modules/.bin', name);
}
