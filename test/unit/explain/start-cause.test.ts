import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startFault } from '../../../src/explain/causes/start-cause.ts';

const MOST_MS = 5_000;

for (const [what, words] of [
  ['digits', '1'.repeat(20_000)],
  ['blanks', `x${' '.repeat(20_000)}x`],
  ['quotes', 'starting container process caused: "": '.repeat(500)],
  ['mounts', 'not a directory: '.repeat(1_000)],
] as const) {
  test(`an error full of ${what} is looked at in bounded time`, () => {
    const began = performance.now();
    startFault(words);
    const tookMs = performance.now() - began;
    assert.ok(tookMs < MOST_MS, `${tookMs} ms`);
  });
}

test('a cause is found at the end of a long error, and a taken port is named', () => {
  assert.equal(startFault(`error mounting ${'/long'.repeat(5_000)}: no space left on device`)?.code, 'disk-full');
  assert.deepEqual(
    ['Bind for 0.0.0.0:8080 failed: port is already allocated', 'listen tcp4 0.0.0.0:8080: bind: address already in use'].map(
      (words) => startFault(words)?.what,
    ),
    Array.from({ length: 2 }, () => 'a host port is taken already (0.0.0.0:8080): the port is in use'),
  );
});

for (const [words, what] of [
  [
    'Error response from daemon: Cannot mkdir: /etc/passwd is not a directory',
    'its workingDir /etc/passwd is a file in the image, and no directory',
  ],
  [
    'runc create failed: unable to start container process: error during container init: mkdir /etc/passwd: not a directory',
    'its workingDir /etc/passwd is a file in the image, and no directory',
  ],
  [
    'error mounting "/root/pods/1/volumes/v" to rootfs at "/etc/passwd": mount src=/v, dst=/etc/passwd, flags=MS_BIND|MS_REC: not a directory',
    'a directory is mounted on a file, or a file on a directory',
  ],
  [
    'failed to generate container "3a75" spec: failed to generate spec: no command specified',
    'it has no command, and neither has its image',
  ],
  [
    'runc create failed: unable to start container process: container init was OOM-killed (memory limit too low?): unknown',
    'its memory limit is too low even to start it (OOM-killed)',
  ],
  [
    'Required binary /sbin/mount.nfs is missing (package nfs-common of Debian)',
    'the program /sbin/mount.nfs is missing on this node (package nfs-common)',
  ],
  [
    'exec: "/s/run": stat /s/run: no such file or directory',
    'its command "/s/run" is not found in the image, or the interpreter in its first line (#!) is not',
  ],
  ['exec: "curl": executable file not found in $PATH', 'its command "curl" is not found in the image'],
] as const)
  test(`what is meant by: ${words}`, () => assert.equal(startFault(words)?.what, what));
