// What the bundler does in a way of its own, for the sake of how fast an agent starts and how small it is.
import type { Plugin } from 'esbuild';
import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');

/** The command line, and the agent: each imports all that is always loaded with it. */
const MAIN = 'src/main.ts';
const AGENT = 'src/run-process.ts';
const afterMain = `import './${MAIN}';`;
const afterAgent = `${afterMain}import './${AGENT}';`;

/** dockerode loads these for engines over ssh and for image builds, neither of which exists here: 15 MB of memory. */
export const emptyModules: Plugin = {
  name: 'empty-modules',
  setup: (hooks) => {
    hooks.onResolve({ filter: /^(ssh2|@grpc\/.*|protobufjs|tar-fs)$/ }, ({ path }) => ({ path, namespace: 'empty' }));
    hooks.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/** `ws` asks for this native package, which is not in a bundle, to mask what it sends and unmask what it reads. */
export const ownBufferutil: Plugin = {
  name: 'own-bufferutil',
  setup: (hooks) => hooks.onResolve({ filter: /^bufferutil$/ }, () => ({ path: join(root, 'src/server/streaming/web-socket-mask.ts') })),
};

/** Where the importer runs on Node, the package offers CommonJS, of which a bundle has all: six times as much as what is used. */
export const asModules: Plugin = {
  name: 'as-modules',
  setup: (hooks) => {
    hooks.onResolve({ filter: /^rxjs$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: join(root, 'node_modules/rxjs/dist/esm/index.js'), sideEffects: false } : undefined,
    );
  },
};

/**
 * An ES module's import of a module of Node reads all that it exports, which loads more of Node: 40 ms of a start for nothing.
 * Here only what is used is read.
 */
export const builtinsAsTheyAre: Plugin = {
  name: 'builtins-as-they-are',
  setup: (hooks) => {
    hooks.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'builtin', sideEffects: false } : undefined,
    );
    hooks.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({ contents: builtinModule(path) }));
  },
};

function builtinModule(name: string): string {
  const names = Object.keys(process.getBuiltinModule(name) as object).filter((each) => /^\w+$/.test(each) && each !== 'default');
  return [
    `const builtin = /* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(name)});`,
    'export default builtin;',
    ...names.map((each) => `const $${each} = /* @__PURE__ */ (() => builtin.${each})(); export { $${each} as ${each} };`),
  ].join('\n');
}

/**
 * A file costs a start more than what is in it: the capabilities that are always wanted are a part of the agent's own, and those of an agent that
 * serves are one file.
 */
export const capabilitiesTogether: Plugin = {
  name: 'capabilities-together',
  setup: (hooks) => {
    const serving: string[] = [];
    hooks.onLoad({ filter: /\/src\/capabilities\.ts$/ }, ({ path }) => {
      const always: string[] = [];
      serving.length = 0;
      const contents = readFileSync(path, 'utf8').replaceAll(
        /(wanted: (always|serves), load: \(\) => )import\((.*?)\)/g,
        (_, before: string, wanted: string, from: string) => {
          if (wanted === 'serves') return `${before}import('./serving').then((all) => all.capability${serving.push(from) - 1})`;
          return `${before}Promise.resolve(always${always.push(from) - 1})`;
        },
      );
      if (always.length === 0 || serving.length === 0)
        throw new Error(`${path} names no capability that is always wanted: this build expects its lines as they were`);
      return { contents: `${always.map((from, i) => `import * as always${i} from ${from};`).join('')}${contents}`, loader: 'ts' };
    });
    hooks.onResolve({ filter: /^\.\/serving$/ }, ({ path }) => ({ path, namespace: 'serving' }));
    hooks.onLoad({ filter: /.*/, namespace: 'serving' }, () => ({
      contents: `${afterAgent}${serving.map((from, i) => `export * as capability${i} from ${from.replace('./', './src/')};`).join('')}`,
      resolveDir: root,
    }));
  },
};

/**
 * Of what two files share, each piece would be a file of its own to load. What a start always loads becomes two files instead, so that --help and
 * --version load one: all that is loaded later says that it needs them whole.
 */
export const startInTwoPieces: Plugin = {
  name: 'start-in-two-pieces',
  setup: (hooks) => {
    hooks.onResolve({ filter: /^\.{1,2}\// }, ({ path, kind, resolveDir }) => {
      const source = relative(root, resolve(resolveDir, path));
      return kind === 'dynamic-import' && source !== MAIN ? { path: source, namespace: 'later' } : undefined;
    });
    hooks.onLoad({ filter: /.*/, namespace: 'later' }, ({ path }) => ({
      contents: `${loadsAgent(path) ? afterAgent : afterMain}export * from './${path}';`,
      resolveDir: root,
    }));
  },
};

const loadsAgent = (source: string): boolean => source !== AGENT && !/^src\/(options|cli)\//.test(source);
