import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test, type TestContext } from 'node:test';
import { filter, firstValueFrom, ReplaySubject, Subject } from 'rxjs';
import { systemClock } from '../../../src/base/clock.ts';
import { LiveValue } from '../../../src/base/live.ts';
import { readRegularFile } from '../../../src/base/read-regular-file.ts';
import { capability } from '../../../src/configuration/capability.ts';
import { loadOptions } from '../../../src/options/load-options.ts';
import type { LiveOptions } from '../../../src/options/kubelet-options.ts';
import { nodeUnderTest, runServices } from '../../builders/node-parts.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const pods = (count: number): string => `${head}maxPods: ${count}\n`;

let root: string;
let file: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'rxlet-configuration-'));
  file = join(root, 'config.yaml');
  await writeFile(file, pods(10));
});
afterEach(() => rm(root, { recursive: true, force: true }));

interface Watching {
  readonly live: LiveValue<LiveOptions>;
  /** "REASON MESSAGE" of each event, from the beginning. */
  readonly events: ReplaySubject<string>;
  /** How often the files were read. */
  readonly reads: () => number;
  /** Resolves once maxPods is this. */
  readonly podsAre: (count: number) => Promise<unknown>;
  readonly event: (reason: string, text: string) => Promise<unknown>;
}

async function watching(t: TestContext, ...flags: readonly string[]): Promise<Watching> {
  const argv = flags.length > 0 ? flags : [`--config=${file}`];
  let reads = 0;
  const first = new Subject<void>();
  const read = () => loadOptions(argv, { hostname: 'n1', terminal: false, readFile: (path) => readRegularFile(path, 2 ** 20) });
  const { options } = await read();
  const live = new LiveValue<LiveOptions>(options);
  const events = new ReplaySubject<string>();
  const scene = nodeUnderTest({
    live,
    config: {
      read: () => {
        reads++;
        return read().finally(() => first.next());
      },
      apply: (changed) => live.set(changed),
      restart: () => {},
    },
    events: { record: (_about, _type, reason, message) => events.next(`${reason} ${message}`) },
  });
  const isWatched = firstValueFrom(first);
  const { services } = capability({ ...scene.node, options, clock: systemClock });
  const running = runServices(services);
  t.after(() => running.stop());
  await isWatched;
  return {
    live,
    events,
    reads: () => reads,
    podsAre: (count) =>
      live.now.maxPods === count ? Promise.resolve() : firstValueFrom(live.changes.pipe(filter(({ maxPods }) => maxPods === count))),
    event: (reason, text) => firstValueFrom(events.pipe(filter((event) => event.startsWith(reason) && event.includes(text)))),
  };
}

const replace = async (path: string, text: string): Promise<void> => {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
};

describe('a change counts', () => {
  test('when the file is written in place, and when another takes its place', async (t) => {
    const { podsAre } = await watching(t);
    await writeFile(file, pods(11));
    await podsAre(11);
    await replace(file, pods(12));
    await podsAre(12);
  });

  test('when the link of a mounted ConfigMap is exchanged', async (t) => {
    const mount = join(root, 'mount');
    await mkdir(join(mount, '..1'), { recursive: true });
    await mkdir(join(mount, '..2'));
    await writeFile(join(mount, '..1/config.yaml'), pods(1));
    await writeFile(join(mount, '..2/config.yaml'), pods(2));
    await symlink('..1', join(mount, '..data'));
    await symlink('..data/config.yaml', join(mount, 'config.yaml'));
    const { podsAre } = await watching(t, `--config=${join(mount, 'config.yaml')}`);
    await symlink('..2', join(mount, '..data_tmp'));
    await rename(join(mount, '..data_tmp'), join(mount, '..data'));
    await podsAre(2);
  });

  test('when a drop-in comes, changes or goes, also in a directory that has come later', async (t) => {
    const directory = join(root, 'drop-ins');
    await mkdir(directory);
    const { podsAre } = await watching(t, `--config=${file}`, `--config-dir=${directory}`);
    await writeFile(join(directory, '10.conf'), pods(11));
    await podsAre(11);
    await mkdir(join(directory, 'later'));
    await writeFile(join(directory, 'later/20.conf'), pods(12));
    await podsAre(12);
    await replace(join(directory, 'later/20.conf'), pods(13));
    await podsAre(13);
    await rm(join(directory, 'later'), { recursive: true });
    await podsAre(11);
  });

  test('when the directory of the file is removed and made again', async (t) => {
    const directory = join(root, 'etc');
    await mkdir(directory);
    await writeFile(join(directory, 'c.yaml'), pods(1));
    const { podsAre, event } = await watching(t, `--config=${join(directory, 'c.yaml')}`);
    await rm(directory, { recursive: true });
    await event('InvalidConfig', 'ENOENT');
    await mkdir(directory);
    await writeFile(join(directory, 'c.yaml'), pods(2));
    await podsAre(2);
  });
});

test('fields that need a restart are named in an event, and only once', async (t) => {
  const { events, event, podsAre } = await watching(t);
  const seen: string[] = [];
  events.subscribe((each) => seen.push(each));
  await replace(file, `${pods(11)}clusterDomain: b.local\nregisterNode: false\n`);
  await event('ConfigRestartNeeded', 'clusterDomain');
  await replace(file, `${pods(12)}clusterDomain: b.local\nregisterNode: false\n`);
  await podsAre(12);
  assert.equal(seen.length, 1);
});

describe('what is not valid changes nothing, and it is said why', () => {
  const bad: readonly (readonly [string, string, () => Promise<unknown>])[] = [
    ['a wrong value, by file, line and field', ':3:10 invalid configuration: maxPods', () => replace(file, pods(-1))],
    ['text that is no YAML', 'config.yaml:', () => replace(file, '{{{')],
    ['a file that is gone', 'ENOENT', () => rm(file)],
    ['a directory', 'is no KubeletConfiguration any more', () => rm(file).then(() => mkdir(file))],
    ['a pipe', 'it is a pipe', () => rm(file).then(() => execFileSync('mkfifo', [file]))],
    ['links in a circle', 'ELOOP', () => rm(file).then(() => symlink('config.yaml', file))],
    ['NUL bytes', 'config.yaml:', () => replace(file, `${head}maxPods: \0\0\n`)],
    ['10 MB', 'it is larger than', () => replace(file, pods(11) + '#'.repeat(10_000_000))],
    ['manifests', 'is no KubeletConfiguration any more', () => replace(file, 'kind: Pod\n')],
  ];
  for (const [what, why, make] of bad) {
    test(what, async (t) => {
      const { live, event, podsAre } = await watching(t);
      await make();
      await event('InvalidConfig', why);
      assert.equal(live.now.maxPods, 10);
      await rm(file, { recursive: true, force: true });
      await replace(file, pods(11));
      await podsAre(11);
    });
  }
});

test('a file that is replaced a thousand times a second, now good and now bad, is read now and then, and ends as it is last', async (t) => {
  const { reads, podsAre } = await watching(t);
  const beganMs = performance.now();
  for (let n = 0; performance.now() - beganMs < 3_000; n++) await replace(file, n % 2 === 0 ? pods(20 + (n % 50)) : '{{{');
  await replace(file, pods(7));
  await podsAre(7);
  const elapsedMs = performance.now() - beganMs;
  // At most every two seconds while it goes on, the one at the start, and the last.
  assert.ok(reads() <= 3 + elapsedMs / 2_000, `${reads()} reads in ${elapsedMs} ms`);
});
