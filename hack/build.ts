// Bundles src/start.ts into dist/, minified: what users run. Does nothing when nothing that goes into it has changed.
import { build, type Plugin } from 'esbuild';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const dist = join(root, 'dist');
const stampFile = join(dist, 'build-stamp');

/** What CommonJS packages inside an ES module expect to be there. */
const cjsGlobals = [
  "import { createRequire as $createRequire } from 'node:module';",
  "import { dirname as $dirname } from 'node:path';",
  'const require = $createRequire(import.meta.url), __filename = import.meta.filename, __dirname = $dirname(__filename);',
].join('');

/** dockerode loads these for engines over ssh and for image builds, neither of which exists here: 15 MB of memory. */
const emptyModules: Plugin = {
  name: 'empty-modules',
  setup: (hooks) => {
    hooks.onResolve({ filter: /^(ssh2|@grpc\/.*|protobufjs|tar-fs)$/ }, ({ path }) => ({ path, namespace: 'empty' }));
    hooks.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/** `ws` asks for this native package, which is not in a bundle, to mask what it sends and unmask what it reads. */
const ownBufferutil: Plugin = {
  name: 'own-bufferutil',
  setup: (hooks) => hooks.onResolve({ filter: /^bufferutil$/ }, () => ({ path: join(root, 'src/server/streaming/web-socket-mask.ts') })),
};

const stamp = contentStamp(['package.json', 'package-lock.json', 'hack/build.ts', 'src']);
if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) {
  console.log('build: nothing has changed');
} else {
  const startedAt = performance.now();
  const files = await bundle();
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist);
  for (const { path, contents } of files) writeFileSync(path, contents);
  // Last, so that a build cut short is done again.
  writeFileSync(stampFile, stamp);
  console.log(`build: ${Math.round(performance.now() - startedAt)} ms`);
}
printSizes();

async function bundle(): Promise<readonly { readonly path: string; readonly contents: Uint8Array }[]> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      rxlet: 'src/start.ts',
      'host-files-main': 'src/host-files-main.ts',
      'auth-provider-main': 'src/cluster/kube/auth-provider-main.ts',
      'manifest-worker': 'src/sources/manifest-worker.ts',
    },
    outdir: dist,
    bundle: true,
    // So that --help and --version load no engine client.
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    sourcemap: 'external',
    legalComments: 'none',
    define: { RXLET_VERSION: JSON.stringify(version) },
    banner: { js: cjsGlobals },
    plugins: [emptyModules, ownBufferutil],
    logLevel: 'warning',
    // A build that fails leaves the last one in place.
    write: false,
    metafile: true,
  });
  const contents = Buffer.from(licences(Object.keys(metafile.inputs)));
  return [...outputFiles, { path: join(dist, 'THIRD-PARTY-LICENSES.txt'), contents }];
}

/** The licences of the packages whose code is in the bundle: most ask to go with it. */
function licences(inputs: readonly string[]): string {
  const directories = new Set(inputs.flatMap((input) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []));
  const texts = [...directories].toSorted().map((directory) => {
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
  const sizes = readdirSync(dist)
    .filter((name) => name.endsWith('.js'))
    .map((name) => ({ name, bytes: statSync(join(dist, name)).size }))
    .toSorted((a, b) => b.bytes - a.bytes);
  for (const { name, bytes } of sizes) console.log(`${kilobytes(bytes)}  dist/${name}`);
  console.log(`${kilobytes(sizes.reduce((sum, { bytes }) => sum + bytes, 0))}  in all`);
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1).padStart(8)} KB`;
}
