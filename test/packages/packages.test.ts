import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';

/** What hack/test.sh has made: the packages, those of a next version, and a bare Debian to install them on. */
const env = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run hack/test.sh packages`);
  return value;
};
const packages = env('RXLET_TEST_PACKAGES');
const next = env('RXLET_TEST_NEXT_PACKAGES');
const root = env('RXLET_TEST_DEBIAN');
const checkout = resolve(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string };
const [arch, debianArch] = process.arch === 'arm64' ? ['arm64', 'arm64'] : ['x64', 'amd64'];

const agents: ChildProcess[] = [];
after(() => agents.forEach((agent) => agent.kill()));

const inRoot = (...command: readonly string[]): string => execFileSync('chroot', [root, ...command], { encoding: 'utf8', env: chrootEnv });
const chrootEnv = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', DEBIAN_FRONTEND: 'noninteractive' };

/** Runs an example on the embedded engine. Resolves once the pod runs; the agent goes on. */
async function runExample(command: readonly string[], rootDir: string, flags: readonly string[]): Promise<() => string> {
  const words = [
    ...command.slice(1),
    ...flags,
    '--docker-endpoint=fake://',
    `--root-dir=${rootDir}`,
    '--healthz-port=0',
    '--enable-server=false',
  ];
  const agent = spawn(command[0] ?? '', words, { env: chrootEnv, stdio: ['ignore', 'ignore', 'pipe'] });
  agents.push(agent);
  let said = '';
  await new Promise<void>((resolve, reject) => {
    agent.stderr.on('data', (text: Buffer) => {
      said += text.toString();
      if (/"pod":"default\/web-.*"to":"Running"/.test(said)) resolve();
    });
    agent.once('exit', () => reject(new Error(`the agent ended: ${said}`)));
  });
  const ps = (): string => {
    const { stdout, stderr } = spawnSync(command[0] ?? '', [...command.slice(1), 'ps', `--root-dir=${rootDir}`], {
      encoding: 'utf8',
      env: chrootEnv,
    });
    return stdout + stderr;
  };
  assert.match(ps(), /web-\S+ +2\/2 +Running/);
  return () => {
    assert.equal(agent.exitCode, null, said);
    return ps();
  };
}

function stopAgents(): Promise<unknown> {
  return Promise.all(
    agents.splice(0).map((agent) => {
      const ended = new Promise<unknown>((done) => (agent.exitCode === null ? agent.once('exit', done) : done(undefined)));
      agent.kill();
      return ended;
    }),
  );
}

test('the Debian package is installed, runs an example, is upgraded and removed while the pod runs, and keeps its configuration', async () => {
  const install = (directory: string, name: string): void => {
    copyFileSync(join(directory, name), join(root, 'tmp/package.deb'));
    inRoot('dpkg', '--force-depends', '-i', '/tmp/package.deb');
  };
  install(packages, `rxlet_${version}_${debianArch}.deb`);
  assert.equal(inRoot('rxlet', '--version'), `rxlet v${version}\n`);
  inRoot('cp', '/usr/share/doc/rxlet/examples/web.yaml', '/etc/rxlet/manifests/');
  const ps = await runExample(['chroot', root, '/usr/bin/rxlet'], '/var/lib/rxlet', ['--config=/etc/rxlet/config.yaml']);
  appendFileSync(join(root, 'etc/rxlet/config.yaml'), '# mine\n');

  install(next, `rxlet_${version}+next_${debianArch}.deb`);
  assert.match(ps(), /web-\S+ +2\/2 +Running +0/);
  assert.match(readFileSync(join(root, 'etc/rxlet/config.yaml'), 'utf8'), /# mine/);

  install(packages, `rxlet-kubelet_${version}_all.deb`);
  assert.match(inRoot('kubelet', '--version'), /^Kubernetes v1\.\d+\.\d+\n$/);
  inRoot('dpkg', '-r', 'rxlet-kubelet', 'rxlet');
  assert(!existsSync(join(root, 'usr/bin/rxlet')));
  assert.match(readFileSync(join(root, 'etc/rxlet/config.yaml'), 'utf8'), /# mine/);
  const [agent] = agents;
  assert.equal(agent?.exitCode, null);
  await stopAgents();
  inRoot('dpkg', '-P', 'rxlet');
  assert(!existsSync(join(root, 'etc/rxlet/config.yaml')));
});

test('the single executable unpacks itself once, under any name, runs an example, is replaced and removed while the pod runs, and trusts no folder that others can write', async () => {
  const file = join(root, 'usr/local/bin/rxlet');
  copyFileSync(join(packages, `rxlet-linux-${arch}`), file);
  chmodSync(file, 0o755);
  assert.equal(inRoot('/usr/local/bin/rxlet', '--version'), `rxlet v${version}\n`);
  inRoot('ln', '-sf', '/usr/local/bin/rxlet', '/usr/local/bin/kubelet');
  assert.match(inRoot('/usr/local/bin/kubelet', '--version'), /^Kubernetes v1\./);
  assert.equal(inRoot('ls', '/var/cache/rxlet').trim().split('\n').length, 1);
  mkdirSync(join(root, 'tmp/manifests'), { recursive: true });
  cpSync(join(checkout, 'manifests/examples/web.yaml'), join(root, 'tmp/manifests/web.yaml'));
  const ps = await runExample(['chroot', root, '/usr/local/bin/rxlet'], '/var/lib/rxlet-binary', ['--pod-manifest-path=/tmp/manifests']);
  // Another one takes its place, as a new version does.
  copyFileSync(file, `${file}.new`);
  chmodSync(`${file}.new`, 0o755);
  renameSync(`${file}.new`, file);
  assert.match(ps(), /web-\S+ +2\/2 +Running +0/);
  renameSync(file, `${file}.removed`);
  assert.equal(agents[0]?.exitCode, null);
  await stopAgents();
  renameSync(`${file}.removed`, file);
  inRoot('chmod', '777', '/var/cache/rxlet');
  const { status, stderr } = spawnSync('chroot', [root, '/usr/local/bin/rxlet', '--version'], { encoding: 'utf8', env: chrootEnv });
  assert.equal(status, 1);
  assert.match(stderr, /others than .* can write to \/var\/cache\/rxlet/);
});

test('the image has all that the program wants, and its parts are what its lists say', async () => {
  const layout = mkdtempSync(join(tmpdir(), 'rxlet-image-'));
  try {
    execFileSync('tar', ['-xf', join(packages, `rxlet-image-${arch}.tar`), '-C', layout]);
    const parts = execFileSync('ls', [join(layout, 'blobs/sha256')], { encoding: 'utf8' })
      .trim()
      .split('\n');
    for (const digest of parts)
      assert.equal(execFileSync('sha256sum', [join(layout, 'blobs/sha256', digest)], { encoding: 'utf8' }).split(' ')[0], digest);
    const [{ Layers, RepoTags }] = JSON.parse(readFileSync(join(layout, 'manifest.json'), 'utf8')) as [
      { Layers: string[]; RepoTags: string[] },
    ];
    assert.deepEqual(RepoTags, [`rxlet:${version}`]);
    const tree = join(layout, 'tree');
    mkdirSync(tree);
    execFileSync('tar', ['-xzf', join(layout, Layers[0] ?? ''), '-C', tree]);
    cpSync(join(checkout, 'manifests/examples/web.yaml'), join(tree, 'etc/rxlet/manifests/web.yaml'));
    // An engine writes it for each container.
    writeFileSync(join(tree, 'etc/resolv.conf'), 'nameserver 127.0.0.1\n');
    execFileSync('mknod', [join(tree, 'dev/null'), 'c', '1', '3']);
    execFileSync('mount', ['-t', 'proc', 'proc', join(tree, 'proc')]);
    await runExample(['chroot', tree, '/usr/bin/rxlet'], '/var/lib/rxlet', ['--pod-manifest-path=/etc/rxlet/manifests']);
    await stopAgents();
  } finally {
    await stopAgents();
    spawnSync('umount', [join(layout, 'tree/proc')]);
    rmSync(layout, { recursive: true });
  }
});

test('the npm package needs no package but Node.js, runs an example, and is replaced and removed while the pod runs', async () => {
  const prefix = mkdtempSync(join(tmpdir(), 'rxlet-npm-'));
  try {
    const own = join(prefix, 'lib/node_modules/rxlet');
    const words = [
      'install',
      '-g',
      '--prefix',
      prefix,
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      join(packages, `rxlet-${version}.tgz`),
    ];
    const install = (): void => {
      // npm leaves out what it may leave out where the registry is slow to answer, and says nothing.
      for (let tries = 0; tries === 0 || (tries < 3 && !existsSync(join(own, 'node_modules'))); tries++)
        execFileSync('npm', words, { stdio: 'pipe' });
    };
    install();
    assert.deepEqual(execFileSync('ls', [join(own, 'node_modules')], { encoding: 'utf8' }), `node-linux-${arch}\n`);
    const links = [...readFileSync(join(own, 'README.md'), 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link]) => link ?? '');
    assert(links.length > 5);
    for (const link of links) assert(existsSync(join(own, link)), link);
    const manifests = join(prefix, 'manifests');
    cpSync(join(own, 'manifests/examples'), manifests, { recursive: true });
    const ps = await runExample([join(prefix, 'bin/rxlet')], join(prefix, 'root'), [`--pod-manifest-path=${manifests}`]);
    install();
    assert.match(ps(), /web-\S+ +2\/2 +Running +0/);
    execFileSync('npm', ['uninstall', '-g', '--prefix', prefix, 'rxlet'], { stdio: 'pipe' });
    assert(!existsSync(own));
    assert.equal(agents[0]?.exitCode, null);
    await stopAgents();
  } finally {
    rmSync(prefix, { recursive: true });
  }
});

test('the sums are those of the files, and the bill names what is in them', () => {
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: packages });
  const bill = JSON.parse(readFileSync(join(packages, `rxlet-${version}.cdx.json`), 'utf8')) as {
    components: { name: string; version: string }[];
  };
  const names = bill.components.map(({ name }) => name);
  for (const name of ['rxjs', 'yaml', `node-linux-${arch}`]) assert(names.includes(name), name);
});

test('the same checkout makes the same bytes again', () => {
  const again = mkdtempSync(join(tmpdir(), 'rxlet-again-'));
  try {
    execFileSync('hack/package.sh', [], {
      cwd: checkout,
      stdio: 'pipe',
      env: { ...process.env, RXLET_OUT: again, RXLET_TEST_BUILT: 'yes' },
    });
    assert.equal(readFileSync(join(again, 'SHA256SUMS'), 'utf8'), readFileSync(join(packages, 'SHA256SUMS'), 'utf8'));
  } finally {
    rmSync(again, { recursive: true });
  }
});

test('lintian has nothing against the Debian packages', () => {
  const debs = [`rxlet_${version}_${debianArch}.deb`, `rxlet-kubelet_${version}_all.deb`].map((name) => join(packages, name));
  const { stdout } = spawnSync('lintian', ['--fail-on=error,warning', ...debs], { encoding: 'utf8' });
  assert.equal(stdout, '');
});
