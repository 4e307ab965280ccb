// Bundles src/start.ts into dist/, minified: what users run. Does nothing when nothing that goes into it has changed.
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { asModules, builtinsAsTheyAre, capabilitiesTogether, emptyModules, ownBufferutil, startInTwoPieces } from './build-plugins.ts';
import { manPage } from '../src/cli/man-page.ts';

/** Commands, and processes and threads of the agent's own: a file each, with all that it needs. */
const besides = {
  'node-commands': 'src/cli/node-commands.ts',
  validate: 'src/cli/validate.ts',
  completion: 'src/cli/completion.ts',
  'manifest-tools': 'src/sources/manifest-tools.ts',
  plan: 'src/plan-tools.ts',
  engines: 'src/cli/engines.ts',
  'list-engines': 'src/engines/list-engines.ts',
  replay: 'src/cli/replay.ts',
  'host-files-main': 'src/host-files-main.ts',
  'auth-provider-main': 'src/cluster/kube/auth-provider-main.ts',
  'manifest-worker': 'src/sources/manifest-worker.ts',
};

const root = resolve(import.meta.dirname, '..');
const dist = join(root, 'dist');
const stampFile = join(dist, 'build-stamp');

/** What CommonJS packages inside an ES module expect to be there. */
const cjsGlobals = [
  "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url),",
  '__filename = import.meta.filename, __dirname = import.meta.dirname;',
].join('');

/** What main.ts imports when a command asks for it is not split with the agent: of what they share, each piece would be a file to load. */
const commandsApart: Plugin = {
  name: 'commands-apart',
  setup: (hooks) =>
    hooks.onResolve({ filter: /^\.\// }, ({ path, kind, importer }) => {
      if (kind !== 'dynamic-import' || !importer.endsWith('/src/main.ts')) return undefined;
      const name = Object.entries(besides).find(([, source]) => source === join('src', path))?.[0];
      return name === undefined ? undefined : { path: `./${name}.js`, external: true };
    }),
};

const stamp = contentStamp(['package.json', 'package-lock.json', 'hack/build.ts', 'hack/build-plugins.ts', 'src', 'page']);
if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) {
  console.log('build: nothing has changed');
} else {
  const startedAt = performance.now();
  const files = await bundle();
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(join(dist, 'page'), { recursive: true });
  for (const { path, contents } of files) writeFileSync(path, contents);
  // Last, so that a build cut short is done again.
  writeFileSync(stampFile, stamp);
  console.log(`build: ${Math.round(performance.now() - startedAt)} ms`);
}
printSizes();

async function bundle(): Promise<readonly { readonly path: string; readonly contents: Uint8Array }[]> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const options = {
    absWorkingDir: root,
    outdir: dist,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: 'external',
    legalComments: 'none',
    define: { RXLET_VERSION: JSON.stringify(version) },
    banner: { js: cjsGlobals },
    plugins: [emptyModules, ownBufferutil, asModules, builtinsAsTheyAre, capabilitiesTogether, commandsApart],
    logLevel: 'warning',
    // A build that fails leaves the last one in place.
    write: false,
    metafile: true,
  } as const satisfies BuildOptions;
  // Split, so that --help and --version load no engine client. What is besides shares nothing with it: each file less is a faster start.
  const all = await Promise.all([
    build({ ...options, entryPoints: { rxlet: 'src/start.ts' }, splitting: true, plugins: [...options.plugins, startInTwoPieces] }),
    ...Object.entries(besides).map(([name, path]) => build({ ...options, entryPoints: { [name]: path } })),
  ]);
  const page = await build({
    absWorkingDir: root,
    outdir: join(dist, 'page'),
    entryPoints: ['page/page.tsx', 'page/page.css'],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome120', 'firefox121', 'safari17'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
    metafile: true,
  });
  const bundled = packageFolders([...all, page].flatMap(({ metafile }) => Object.keys(metafile.inputs)));
  const asItIs = ['page.html', 'icon.svg'].map((name) => ({
    path: join(dist, 'page', name),
    contents: readFileSync(join(root, 'page', name)),
  }));
  return [
    ...[...all, page].flatMap(({ outputFiles }) => outputFiles),
    ...asItIs,
    { path: join(dist, 'rxlet.8'), contents: Buffer.from(manPage(version)) },
    { path: join(dist, 'THIRD-PARTY-LICENSES.txt'), contents: Buffer.from(licences(bundled)) },
    { path: join(dist, 'bundled-packages.json'), contents: Buffer.from(`${JSON.stringify(bundled)}\n`) },
  ];
}

function packageFolders(inputs: readonly string[]): readonly string[] {
  return [...new Set(inputs.flatMap((input) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []))].toSorted();
}

/** The licences of the packages whose code is in the bundle: most ask to go with it. */
function licences(directories: readonly string[]): string {
  const texts = directories.map((directory) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, directory, 'package.json'), 'utf8')) as Record<string, unknown>;
    const file = readdirSync(join(root, directory)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? '' : `\n${readFileSync(join(root, directory, file), 'utf8').trim()}\n`;
    return `${String(name)} ${String(version)}: ${String(license)}\n${text}`;
  });
  return `rxlet contains code of these packages.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

function contentStamp(paths: readonly string[]): string {
  const files = paths.flatMap((path) =>
    statSync(join(root, path)).isDirectory()
      ? readdirSync(join(root, path), { recursive: true, encoding: 'utf8' }).map((name) => join(path, name))
      : [path],
  );
  const contents = files
    .filter((file) => statSync(join(root, file)).isFile())
    .toSorted()
    .map((file) => `${file} ${hash('sha256', readFileSync(join(root, file)))}\n`);
  return hash('sha256', contents.join(''));
}

function printSizes(): void {
  const sizes = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(js|css|html)$/.test(name))
    .map((name) => ({ name, bytes: statSync(join(dist, name)).size }))
    .toSorted((a, b) => b.bytes - a.bytes);
  for (const { name, bytes } of sizes) console.log(`${kilobytes(bytes)}  dist/${name}`);
  console.log(`${kilobytes(sizes.reduce((sum, { bytes }) => sum + bytes, 0))}  in all`);
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1).padStart(8)} KB`;
}
