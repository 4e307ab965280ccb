// What upgrades are tried from: `node hack/last-release.ts` builds it into .cache/releases and prints the way to its launcher.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * Stands for the last release while no commit before this one has a tag like v1.2.3: as soon as one has, the newest such tag counts, and this
 * is not looked at. To move it without a tag, write another commit here that is an ancestor and takes today's node_modules.
 */
const UNTAGGED = 'f798230cea28c23508da6c90c840a04105a1cc8c';

const root = resolve(import.meta.dirname, '..');
const FETCH_WITHIN_MS = 60_000;

/** A build that upgrades are tried from. */
export interface Release {
  /** A tag or commit; undefined: this checkout's own build, as its history could not be had. */
  readonly name: string | undefined;
  readonly launcher: string;
}

/** Builds it once; the packages are this checkout's. `say` hears why an older version could not be had. Throws where it does not build. */
export function lastRelease(say: (line: string) => void): Release {
  const name = newestTag() ?? UNTAGGED;
  const commit = commitOf(name);
  if (commit === undefined) {
    say(`${name} is not in this clone and could not be fetched, so the upgrade is from this build to itself: git fetch --unshallow --tags`);
    return { name: undefined, launcher: join(root, 'bin/rxlet') };
  }
  const directory = join(root, '.cache/releases', commit);
  if (!existsSync(directory)) build(commit, directory);
  return { name, launcher: join(directory, 'bin/rxlet') };
}

/** With the checkout's node_modules. Whole or not there, also after a build that is cut short. */
function build(commit: string, directory: string): void {
  mkdirSync(join(directory, '..'), { recursive: true });
  const unfinished = mkdtempSync(`${directory}.`);
  execFileSync('tar', ['-x', '-C', unfinished], { input: git('archive', commit), stdio: ['pipe', 'ignore', 'inherit'] });
  // A build looks for some files of packages in its own folder.
  symlinkSync(join(root, 'node_modules'), join(unfinished, 'node_modules'));
  execFileSync(process.execPath, ['hack/build.ts'], { cwd: unfinished, stdio: ['ignore', 'ignore', 'inherit'] });
  renameSync(unfinished, directory);
}

/** Of a release before this commit: what is tagged here is what is tried. */
function newestTag(): string | undefined {
  const described = attempt(() => git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^'));
  return described?.toString('utf8').trim();
}

function commitOf(name: string): string | undefined {
  const look = (): string | undefined =>
    attempt(() => git('rev-parse', '--verify', `${name}^{commit}`))
      ?.toString('utf8')
      .trim();
  const here = look();
  if (here !== undefined) return here;
  attempt(() => git('fetch', '--quiet', '--depth=1', 'origin', name));
  return look();
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

function git(...words: readonly string[]): Buffer {
  // A checkout that belongs to somebody else is none of git's business here: nothing of it is run but what its own tests run.
  return execFileSync('git', ['-c', `safe.directory=${root}`, ...words], {
    cwd: root,
    maxBuffer: 256 << 20,
    timeout: FETCH_WITHIN_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, GIT_TERMINAL_PROMPT: '0' },
  });
}

if (import.meta.main) {
  const { name, launcher } = lastRelease((line) => console.error(`last-release: ${line}`));
  console.error(`last-release: ${name ?? 'this checkout'}`);
  console.log(launcher);
}
