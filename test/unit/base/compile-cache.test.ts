import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileCacheDirectory } from '../../../src/base/compile-cache.ts';

for (const [name, env, directory] of [
  [
    "systemd's directory comes first",
    { CACHE_DIRECTORY: '/var/cache/rxlet:/other', XDG_CACHE_HOME: '/x', HOME: '/h' },
    '/var/cache/rxlet/compiled',
  ],
  ['then the user’s', { XDG_CACHE_HOME: '/x', HOME: '/h' }, '/x/rxlet/compiled'],
  ['then the one in the home directory', { HOME: '/h' }, '/h/.cache/rxlet/compiled'],
  ['a relative one is ignored', { XDG_CACHE_HOME: 'x', HOME: '/h' }, '/h/.cache/rxlet/compiled'],
  ['and without any nothing is kept', {}, undefined],
] as const) {
  test(name, () => {
    assert.equal(compileCacheDirectory(env), directory);
  });
}
