import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { ImageVerification } from '../../../../src/images/verification/image-verification.ts';
import type { TrackedCredentials } from '../../../../src/images/verification/pull-credentials.ts';
import { LARGEST_RECORD } from '../../../../src/images/verification/pulled-record.ts';
import { recordFileName } from '../../../../src/images/verification/record-files.ts';
import type { ListedImage } from '../../../../src/ports/image-service.ts';
import { aRootDirectory } from '../../../builders/a-root-directory.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

const { signal } = new AbortController();
const anImage = (id: string, ...names: readonly string[]): ListedImage => ({ id, repoTags: names, repoDigests: [], sizeBytes: 1 });
const app = anImage('sha256:app', 'r.example/app:1');
const secret = (name: string, password = 'pw'): TrackedCredentials => ({
  username: 'me',
  password,
  source: { secret: { uid: `uid-${name}`, namespace: 'shop', name } },
});
const none = async (): Promise<readonly TrackedCredentials[]> => [];
const having =
  (...all: readonly TrackedCredentials[]) =>
  async (): Promise<readonly TrackedCredentials[]> =>
    all;

interface Scene {
  readonly rootDir: string;
  readonly log: RecordingLogger;
  /** What the engine has. */
  images: readonly ListedImage[];
  listings: number;
  readonly checks: string[];
  /** The same root directory after a kill. */
  readonly again: (policy?: string, allowlist?: readonly string[]) => ImageVerification;
  readonly files: (directory: 'pulling' | 'pulled') => Promise<readonly string[]>;
  readonly path: (directory: 'pulling' | 'pulled', key: string) => string;
}

async function scene(t: TestContext): Promise<Scene> {
  const rootDir = await aRootDirectory(t);
  const log = new RecordingLogger();
  const made: Scene = {
    rootDir,
    log,
    images: [],
    listings: 0,
    checks: [],
    again: (policy = 'NeverVerifyPreloadedImages', allowlist = []) =>
      new ImageVerification({
        rootDir,
        policy: { policy, allowlist },
        images: { listImages: async () => (made.listings++, made.images) },
        clock: new FakeClock(),
        log,
        tell: { imageChecked: (check) => made.checks.push(check) },
      }),
    files: async (directory) => readdir(join(rootDir, 'image_manager', directory)).catch(() => []),
    path: (directory, key) => join(rootDir, 'image_manager', directory, recordFileName(key)),
  };
  return made;
}

const pulled = async (
  by: ImageVerification,
  image: ListedImage,
  used?: TrackedCredentials,
  name = image.repoTags[0] ?? '',
): Promise<void> => {
  await by.begins(name, undefined);
  await by.succeeded(name, image.id, used);
};

describe('an image that was not pulled here', () => {
  for (const [policy, mayUse] of [
    ['NeverVerify', true],
    ['NeverVerifyPreloadedImages', true],
    ['NeverVerifyAllowlistedImages', false],
    ['AlwaysVerify', false],
  ] as const)
    test(`${mayUse ? 'may be used by all' : 'is verified'} with ${policy}, and nothing is written or asked`, async (t) => {
      const { again, files, listings, rootDir } = await scene(t);
      const asked = async (): Promise<never> => assert.fail('nobody asks for credentials');
      assert.equal(await again(policy).mayUse('r.example/app:1', app, asked, signal), mayUse);
      assert.deepEqual([await files('pulling'), await files('pulled'), listings], [[], [], 0]);
      assert.deepEqual(await readdir(rootDir), []);
    });
});

describe('an image that was pulled here', () => {
  test('without credentials, or with those of the node, may be used by all', async (t) => {
    const { again } = await scene(t);
    for (const used of [undefined, { username: 'node', password: 'pw' }]) {
      await pulled(again(), app, used);
      assert.equal(await again('AlwaysVerify').mayUse('r.example/app:2', app, none, signal), true);
    }
  });

  test('with a Secret may be used by who has it, also after a restart, and by nobody else, by whatever name', async (t) => {
    const { again, files, path, checks } = await scene(t);
    await pulled(again(), app, secret('a'));
    assert.deepEqual([(await files('pulling')).length, (await files('pulled')).length], [0, 1]);
    const text = await readFile(path('pulled', app.id), 'utf8');
    assert.match(
      text,
      /"credentialMapping":\{"r\.example\/app":\{"kubernetesSecrets":\[\{"uid":"uid-a","namespace":"shop","name":"a","credentialHash":"[0-9a-f]{64}"\}\]\}\}/,
    );
    assert.ok(!text.includes('pw'));
    assert.equal((await stat(path('pulled', app.id))).mode & 0o777, 0o600);
    const verification = again();
    assert.equal(await verification.mayUse('r.example/app:1', app, having(secret('a')), signal), true);
    assert.equal(await verification.mayUse('r.example/app:1', app, none, signal), false);
    assert.deepEqual(checks, ['credentialRecordFound', 'mustAuthenticate']);
    for (const name of ['sha256:app', 'r.example/other:1', 'app'])
      assert.equal(await verification.mayUse(name, app, having(secret('a')), signal), false, name);
    assert.equal(await again('NeverVerify').mayUse('r.example/app:1', app, none, signal), true);
    assert.equal(await again('NeverVerifyAllowlistedImages', ['r.example/*']).mayUse('r.example/app:1', app, none, signal), true);
  });

  test('is learnt to be for a Secret with the same credentials', async (t) => {
    const { again } = await scene(t);
    await pulled(again(), app, secret('a'));
    assert.equal(await again().mayUse('r.example/app:1', app, having(secret('b')), signal), true);
    // The one that was learnt holds something else by now.
    assert.equal(await again().mayUse('r.example/app:1', app, having(secret('b', 'new')), signal), true);
  });

  test('is verified where credentials cannot be had', async (t) => {
    const { again, log, checks } = await scene(t);
    await pulled(again(), app, secret('a'));
    const broken = async (): Promise<never> => Promise.reject(new Error('the API server is away'));
    assert.equal(await again().mayUse('r.example/app:1', app, broken, signal), false);
    assert.deepEqual(checks, ['error']);
    assert.match(String(log.lines[0]?.fields?.['error']), /the API server is away/);
    const gone = AbortSignal.abort(new Error('the pod has gone'));
    await assert.rejects(again().mayUse('r.example/app:1', app, broken, gone), { message: 'the pod has gone' });
  });

  test('has records of many pulls at once whole', async (t) => {
    const { again } = await scene(t);
    const verification = again();
    const names = Array.from({ length: 20 }, (_, i) => `s${i}`);
    await Promise.all(names.map((name) => pulled(verification, app, secret(name, name))));
    for (const name of names) assert.equal(await again().mayUse('r.example/app:1', app, having(secret(name, name)), signal), true);
  });
});

describe('a pull', () => {
  test('that is under way makes what it may have brought its own, by whatever name, until it has failed', async (t) => {
    const { again, files } = await scene(t);
    const verification = again();
    await verification.begins('r.example/app:1', undefined);
    assert.equal((await files('pulling')).length, 1);
    for (const name of ['r.example/app:1', 'sha256:app']) assert.equal(await verification.mayUse(name, app, none, signal), false);
    assert.equal(await verification.mayUse('r.example/else:1', anImage('sha256:else', 'r.example/else:1'), none, signal), true);
    await verification.begins('r.example/app:1', undefined);
    await verification.failed('r.example/app:1');
    assert.equal(await verification.mayUse('r.example/app:1', app, none, signal), false);
    await verification.failed('r.example/app:1');
    assert.equal(await verification.mayUse('r.example/app:1', app, none, signal), true);
    assert.deepEqual(await files('pulling'), []);
  });

  test('that an agent was killed in leaves its image to nobody, before and after what it has brought is recorded', async (t) => {
    const it = await scene(t);
    await it.again().begins('app:1', undefined);
    const short = anImage('sha256:app', 'docker.io/library/app:1');
    for (const name of ['app:1', 'docker.io/library/app:1', 'sha256:app'])
      assert.equal(await it.again().mayUse(name, short, none, signal), false, name);
    it.images = [short];
    const verification = it.again();
    await verification.tidy(signal);
    assert.deepEqual([await it.files('pulling'), (await it.files('pulled')).length], [[], 1]);
    assert.equal(await verification.mayUse('app:1', short, none, signal), false);
    await pulled(verification, short, undefined, 'app:1');
    assert.equal(await it.again().mayUse('app:1', short, none, signal), true);
  });

  test('that an agent was killed in between its record and its end is recorded as it is', async (t) => {
    const it = await scene(t);
    await pulled(it.again(), app, secret('a'));
    await it.again().begins('r.example/app:1', undefined);
    it.images = [app];
    await it.again().tidy(signal);
    assert.deepEqual(await it.files('pulling'), []);
    assert.equal(await it.again().mayUse('r.example/app:1', app, having(secret('a')), signal), true);
  });

  test('of an image that is there already leaves that to all, while it is under way, stopped, and after a restart', async (t) => {
    const it = await scene(t);
    const verification = it.again();
    const older = anImage('sha256:older', 'r.example/app:1');
    await verification.begins('r.example/app:1', older.id);
    assert.equal(await verification.mayUse('r.example/app:1', older, none, signal), true);
    assert.equal(await verification.mayUse('r.example/app:1', app, none, signal), false);
    await verification.stopped('r.example/app:1');
    assert.equal(await verification.mayUse('r.example/app:1', older, none, signal), true);
    assert.equal(await verification.mayUse('r.example/app:1', app, none, signal), false);
    assert.equal(await it.again().mayUse('r.example/app:1', older, none, signal), true);
    it.images = [older];
    await verification.tidy(signal);
    assert.deepEqual([await it.files('pulling'), await it.files('pulled')], [[], []]);
  });

  test('that was stopped is settled by what is there', async (t) => {
    const it = await scene(t);
    const verification = it.again();
    await verification.begins('r.example/app:1', undefined);
    await verification.stopped('r.example/app:1');
    // Another one fails meanwhile: that says nothing of the first.
    await verification.begins('r.example/app:1', undefined);
    await verification.failed('r.example/app:1');
    assert.equal((await it.files('pulling')).length, 1);
    it.images = [app];
    await verification.tidy(signal);
    assert.equal(await verification.mayUse('r.example/app:1', app, none, signal), false);
    assert.deepEqual([await it.files('pulling'), (await it.files('pulled')).length], [[], 1]);
  });

  test('that begins while another one of the same image ends keeps its intent', async (t) => {
    const { again, files } = await scene(t);
    const verification = again();
    await verification.begins('r.example/app:1', undefined);
    await Promise.all([verification.begins('r.example/app:1', undefined), verification.failed('r.example/app:1')]);
    assert.equal((await files('pulling')).length, 1);
  });

  test('that has brought nothing by the second look is forgotten', async (t) => {
    const it = await scene(t);
    await it.again().begins('r.example/app:1', undefined);
    const verification = it.again();
    await verification.tidy(signal);
    assert.equal((await it.files('pulling')).length, 1);
    await verification.tidy(signal);
    assert.deepEqual(await it.files('pulling'), []);
  });

  test('begins only where it can be recorded that it does', async (t) => {
    const { again, rootDir } = await scene(t);
    await writeFile(join(rootDir, 'image_manager'), '');
    await assert.rejects(again().begins('r.example/app:1', undefined), /ENOTDIR|EEXIST/);
  });

  test('whose record cannot be written stays open, which is said once; it is recorded when that works', async (t) => {
    const it = await scene(t);
    const verification = it.again();
    await mkdir(join(it.path('pulled', app.id), 'in the way'), { recursive: true });
    await pulled(verification, app, secret('a'));
    await pulled(verification, app, secret('a'));
    assert.equal((await it.files('pulling')).length, 1);
    assert.equal(await verification.mayUse('r.example/app:1', app, having(secret('a')), signal), false);
    assert.equal(it.log.lines.filter(({ message }) => /cannot be changed/.test(message)).length, 1);
    await rm(it.path('pulled', app.id), { recursive: true });
    it.images = [app];
    await verification.tidy(signal);
    assert.deepEqual([await it.files('pulling'), (await it.files('pulled')).length], [[], 1]);
    assert.equal(await it.again().mayUse('r.example/app:1', app, none, signal), false);
  });
});

describe('a record', () => {
  const damages: readonly (readonly [what: string, damage: (path: string) => Promise<unknown>])[] = [
    ['is empty', (path) => writeFile(path, '')],
    ['is cut off', (path) => truncate(path, 40)],
    ['is huge', (path) => truncate(path, LARGEST_RECORD + 1)],
    ['is a directory', async (path) => (await rm(path), mkdir(path))],
    ['is a link to nowhere', async (path) => (await rm(path), symlink('/dev/null/nowhere', path))],
    ['is a link to a device that never ends', async (path) => (await rm(path), symlink('/dev/zero', path))],
    ['leads to itself', async (path) => (await rm(path), symlink(path, path))],
    ['is about another image', async (path) => writeFile(path, (await readFile(path, 'utf8')).replace('sha256:app', 'sha256:other'))],
  ];
  for (const [what, damage] of damages)
    test(`that ${what} is said once, and its image is verified`, async (t) => {
      const it = await scene(t);
      const verification = it.again();
      await pulled(verification, app, undefined);
      await damage(it.path('pulled', app.id));
      // A link to nowhere is no record, as if it was removed.
      const isGone = what === 'is a link to nowhere';
      for (let i = 0; i < 3; i++) assert.equal(await verification.mayUse('r.example/app:1', app, none, signal), isGone);
      assert.equal(it.log.lines.filter(({ message }) => /cannot be read/.test(message)).length, isGone ? 0 : 1);
      // Its next pull makes it whole.
      if (what === 'is a directory') await rm(it.path('pulled', app.id), { recursive: true });
      await pulled(verification, app, secret('a'));
      assert.equal(await it.again().mayUse('r.example/app:1', app, having(secret('a')), signal), true);
    });

  test('goes with its image; with none there the engine is not asked', async (t) => {
    const it = await scene(t);
    const verification = it.again();
    await verification.tidy(signal);
    assert.equal(it.listings, 0);
    const kept = anImage('sha256:kept', 'r.example/kept:1');
    await pulled(verification, app);
    await pulled(verification, kept);
    const ours = join(it.rootDir, 'image_manager', 'pulled');
    await writeFile(join(ours, 'notes.txt'), 'not ours');
    await writeFile(join(ours, `${recordFileName('x')}.part`), 'a crash');
    await writeFile(join(ours, `${recordFileName('x')}.tmp`), "a kubelet's crash");
    await writeFile(join(ours, recordFileName('huge and gone')), 'x'.repeat(2 * LARGEST_RECORD));
    it.images = [kept];
    await verification.tidy(signal);
    assert.deepEqual((await it.files('pulled')).toSorted(), ['notes.txt', recordFileName(kept.id)].toSorted());
  });

  test('of an image that was pulled while the engine was asked what is there stays', async (t) => {
    const it = await scene(t);
    await pulled(it.again(), anImage('sha256:gone', 'r.example/gone:1'));
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<readonly ListedImage[]>();
    const verification = new ImageVerification({
      rootDir: it.rootDir,
      policy: { policy: 'NeverVerifyPreloadedImages', allowlist: [] },
      images: { listImages: () => (asked.resolve(), answer.promise) },
      clock: new FakeClock(),
      log: it.log,
      tell: { imageChecked: () => {} },
    });
    const tidied = verification.tidy(signal);
    await asked.promise;
    await pulled(verification, app, secret('a'));
    answer.resolve([]);
    await tidied;
    assert.deepEqual(await it.files('pulled'), [recordFileName(app.id)]);
  });
});

describe('an intent', () => {
  test('that cannot be read leaves its image to nobody until that is pulled', async (t) => {
    const it = await scene(t);
    await it.again().begins('r.example/app:1', undefined);
    await writeFile(it.path('pulling', 'r.example/app:1'), '{"image":');
    const verification = it.again();
    assert.equal(await verification.mayUse('r.example/app:1', app, none, signal), false);
    assert.equal(it.log.lines.filter(({ message }) => /cannot be read/.test(message)).length, 1);
    await pulled(verification, app, undefined);
    assert.deepEqual(await it.files('pulling'), []);
    assert.equal(await verification.mayUse('r.example/app:1', app, none, signal), true);
  });

  test('has a file of a hash, whatever its image is called', async (t) => {
    const { again, files } = await scene(t);
    const name = `r.example/${'a/'.repeat(100)}b@sha256:${'0'.repeat(64)}`;
    await again().begins(name, undefined);
    await again().begins('../../../../etc/passwd', undefined);
    for (const file of await files('pulling')) assert.match(file, /^sha256-[0-9a-f]{64}$/);
    assert.equal((await files('pulling')).length, 2);
  });

  test('that cannot be looked for lets nobody use what may be its', async (t) => {
    const { again, rootDir } = await scene(t);
    await mkdir(join(rootDir, 'image_manager'));
    await symlink('pulling', join(rootDir, 'image_manager', 'pulling'));
    assert.equal(await again().mayUse('r.example/app:1', app, none, signal), false);
    await rm(join(rootDir, 'image_manager', 'pulling'));
    assert.equal(await again().mayUse('r.example/app:1', app, none, signal), true);
  });
});

test('intents and records on the disk are counted when somebody asks', async (t) => {
  const it = await scene(t);
  const counted = async (of: ImageVerification): Promise<readonly string[]> =>
    (await of.metrics()).split('\n').flatMap((line) => /^kubelet_imagemanager_ondisk_(.*)$/.exec(line)?.[1] ?? []);
  const verification = it.again();
  assert.deepEqual(await counted(verification), ['pulledrecords 0', 'pullintents 0']);
  await pulled(verification, anImage('sha256:a', 'r.example/a:1'));
  await verification.begins('r.example/b:1', undefined);
  await verification.begins('r.example/c:1', undefined);
  assert.deepEqual(await counted(it.again()), ['pulledrecords 1', 'pullintents 2']);
  await rm(join(it.rootDir, 'image_manager', 'pulled'), { recursive: true });
  await writeFile(join(it.rootDir, 'image_manager', 'pulled'), 'no directory');
  const text = await counted(it.again());
  assert.deepEqual(
    text.filter((line) => line.startsWith('pullintents')),
    ['pullintents 2'],
  );
});
