import { constants, enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';

/** By then everything that a start loads has been compiled. */
const FLUSH_AFTER_MS = 15_000;

/**
 * Keeps compiled code between starts. Without a directory, or with one that cannot be written, nothing is kept and nothing fails.
 * Written once some time after the start, as an agent may never end in good order.
 */
export function keepCompiledCode(env: NodeJS.ProcessEnv): void {
  const directory = compileCacheDirectory(env);
  if (directory === undefined || enableCompileCache(directory).status !== constants.compileCacheStatus.ENABLED) return;
  setTimeout(flushCompileCache, FLUSH_AFTER_MS).unref();
}

/**
 * systemd's CacheDirectory=, else the user's cache directory. Never the shared temporary directory, which is Node's own choice:
 * there another user could plant code for this one to run.
 */
export function compileCacheDirectory(env: NodeJS.ProcessEnv): string | undefined {
  // Specifications of both variables: what is not absolute is ignored.
  const absolute = (path: string | undefined): string | undefined => (path?.startsWith('/') ? path : undefined);
  const own = absolute(env['CACHE_DIRECTORY']?.split(':')[0]);
  if (own !== undefined) return join(own, 'compiled');
  const home = absolute(env['HOME']);
  const shared = absolute(env['XDG_CACHE_HOME']) ?? (home === undefined ? undefined : join(home, '.cache'));
  return shared === undefined ? undefined : join(shared, 'rxlet', 'compiled');
}
