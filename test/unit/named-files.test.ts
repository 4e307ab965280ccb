import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, open, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { fileFaults } from '../../src/named-files.ts';
import { loadOptions, OptionsError } from '../../src/options/load-options.ts';
import { aCa } from '../builders/a-pki.ts';
import { FakeClock } from '../fakes/fake-clock.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const ca = aCa();
const [server, other] = [ca.issue({ commonName: 'n1' }), ca.issue({ commonName: 'n2' })];
const kubeconfig = (caFile: string): string =>
  JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'k' } }],
    clusters: [{ name: 'k', cluster: { server: 'https://10.0.0.1', 'certificate-authority': caFile } }],
  });
const providers = (...names: readonly string[]): string =>
  JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1',
    kind: 'CredentialProviderConfig',
    providers: names.map((name) => ({
      name,
      apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
      matchImages: ['quay.io'],
      defaultCacheDuration: '1m',
    })),
  });

let directory: string;
let clock: FakeClock;
const at = (name: string): string => join(directory, name);
const write = (name: string, text: string): Promise<void> => writeFile(at(name), text);
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rxlet-named-'));
  clock = new FakeClock();
  clock.frame = Date.now();
});
afterEach(async () => {
  assert.deepEqual(clock.actions, [], 'no timer is left');
  await rm(directory, { recursive: true });
});

/** What a start says of flags, in which the directory stands as D; nothing is made. */
async function problemsOf(...flags: readonly string[]): Promise<readonly string[]> {
  const before = await readdir(directory, { recursive: true });
  const inPlace = flags.map((flag) => flag.replaceAll('D/', `${directory}/`));
  const own = inPlace.some((flag) => flag.startsWith('--root-dir=')) ? [] : [`--root-dir=${directory}`];
  try {
    await loadOptions([...own, `--cert-dir=${directory}`, ...inPlace], {
      hostname: 'n1',
      terminal: false,
      readFile: (path) => readFile(path, 'utf8'),
      fileFaults: (options) => fileFaults(options, clock),
    });
    return [];
  } catch (error) {
    assert(error instanceof OptionsError, String(error));
    return error.problems.map((problem) => problem.replaceAll(directory, 'D'));
  } finally {
    assert.deepEqual(await readdir(directory, { recursive: true }), before);
  }
}

const gone = (call: string, path: string): string => `ENOENT: no such file or directory, ${call} '${path}'`;

test('all files that are not there are said at once, each with its flag, and with what else is wrong', async () => {
  const flags = [
    '--kubeconfig=D/nope',
    '--tls-cert-file=D/nope.crt',
    '--tls-private-key-file=D/nope.key',
    '--client-ca-file=D/nope-ca',
    '--lock-file=D/x/l',
    '--record=D/x/r',
    '--image-credential-provider-config=D/nope.yaml',
    '--image-credential-provider-bin-dir=D/nopebin',
  ];
  const said = [
    `flag --lock-file: unable to acquire file lock on "D/x/l": ${gone('stat', 'D/x')}`,
    `flag --record: cannot record to D/x/r: ${gone('stat', 'D/x')}`,
    "flag --kubeconfig: kubeconfig D/nope does not exist: ENOENT: no such file or directory, open 'D/nope'",
    `flag --image-credential-provider-config: D/nope.yaml: ${gone('stat', 'D/nope.yaml')}`,
    `flag --image-credential-provider-bin-dir: D/nopebin: ${gone('scandir', 'D/nopebin')}`,
    `flag --tls-cert-file: cannot read D/nope.crt: ${gone('open', 'D/nope.crt')}`,
    `flag --tls-private-key-file: cannot read D/nope.key: ${gone('open', 'D/nope.key')}`,
    `flag --client-ca-file: cannot read D/nope-ca: ${gone('open', 'D/nope-ca')}`,
  ];
  assert.deepEqual(await problemsOf(...flags), said);
  assert.deepEqual(await problemsOf(...flags, '--max-podz=1', '--read-only-port=-1'), [
    'unknown flag --max-podz; did you mean --max-pods?',
    ...said,
    'invalid configuration: readOnlyPort (--read-only-port) -1 must be between 0 and 65535, inclusive',
  ]);
});

test('those of config files are said by line and column, also of a drop-in file', async () => {
  await write('f', `${head}maxPods: many\ntlsCertFile: nope.crt\ntlsPrivateKeyFile: nope.key\n`);
  await mkdir(at('d'));
  await write('d/1.conf', `${head}authentication: {x509: {clientCAFile: ${at('nope-ca')}}}\n`);
  assert.deepEqual(await problemsOf('--config=D/f', '--config-dir=D/d'), [
    'D/f:3:10 maxPods: expected a whole number from -2147483648 to 2147483647, found "many"',
    `D/f:4:14 tlsCertFile: cannot read D/nope.crt: ${gone('open', 'D/nope.crt')}`,
    `D/f:5:20 tlsPrivateKeyFile: cannot read D/nope.key: ${gone('open', 'D/nope.key')}`,
    `D/d/1.conf:3:39 authentication.x509.clientCAFile: cannot read D/nope-ca: ${gone('open', 'D/nope-ca')}`,
  ]);
});

test('files that say nothing of use are told as the start tells them', async () => {
  await mkdir(at('bin'));
  await write('empty', '');
  await write('ca', ca.pem);
  await write('crt', server.certificatePem);
  await write('key', other.keyPem);
  await write('kubeconfig', kubeconfig('nope-ca'));
  await write('providers', providers('one', 'two'));
  await write('nameless', providers('a/b'));
  await write('bin/two', '');
  for (const [flags, said] of [
    [['--kubeconfig=D/empty'], ['flag --kubeconfig: kubeconfig D/empty is empty']],
    [['--kubeconfig=D/bin'], ['flag --kubeconfig: kubeconfig D/bin cannot be read: EISDIR: illegal operation on a directory, read']],
    [['--kubeconfig=D/kubeconfig'], [/^flag --kubeconfig: kubeconfig .* certificate-authority D\/nope-ca cannot be read: ENOENT/]],
    [['--client-ca-file=D/key'], ['flag --client-ca-file: there is no certificate in D/key']],
    [
      ['--tls-cert-file=D/key', '--tls-private-key-file=D/crt'],
      ['flag --tls-cert-file: there is no certificate in D/key', 'flag --tls-private-key-file: there is no private key in D/crt'],
    ],
    [['--tls-cert-file=D/crt', '--tls-private-key-file=D/key'], [/^flag --tls-private-key-file: the private key in D\/key is not that of/]],
    [
      ['--image-credential-provider-config=D/providers', '--image-credential-provider-bin-dir=D/bin'],
      [
        /^flag --image-credential-provider-bin-dir: D\/bin: the program of the provider one cannot be run: ENOENT/,
        /^flag --image-credential-provider-bin-dir: D\/bin: the program of the provider two cannot be run: EACCES/,
      ],
    ],
    [
      ['--image-credential-provider-config=D/nameless', '--image-credential-provider-bin-dir=D/empty'],
      [
        /^flag --image-credential-provider-config: D\/nameless: providers.name: .* cannot contain '\/'$/,
        /^flag --image-credential-provider-bin-dir: D\/empty: ENOTDIR/,
      ],
    ],
    [['--lock-file=D/bin'], ['flag --lock-file: unable to acquire file lock on "D/bin": it is not a regular file']],
    [['--lock-file=D/empty/l'], [/^flag --lock-file: .*ENOTDIR/]],
    [['--record=D/empty/r'], ['flag --record: cannot record to D/empty/r: D/empty is not a directory']],
    [['--root-dir=D/empty'], ['flag --root-dir: D/empty cannot be the root directory: D/empty is not a directory']],
    [['--root-dir=D/empty/root'], [/^flag --root-dir: D\/empty\/root cannot be the root directory: ENOTDIR/]],
    [['--cert-dir=D/empty'], ['flag --cert-dir: a self-signed serving certificate cannot be kept in D/empty: D/empty is not a directory']],
  ] as const) {
    const found = await problemsOf(...flags);
    assert.equal(found.length, said.length, found.join('\n'));
    for (const [index, expected] of said.entries()) {
      if (typeof expected === 'string') assert.equal(found[index], expected);
      else assert.match(found[index] ?? '', expected);
    }
  }
});

describe('nothing is said', () => {
  test('of what is as it should be', async () => {
    await mkdir(at('bin'));
    await write('ca', ca.pem);
    await write('crt', server.certificatePem);
    await write('key', server.keyPem);
    await write('lock', '');
    await write('kubeconfig', kubeconfig('ca'));
    await write('providers', providers('one'));
    await write('bin/one', '');
    await chmod(at('bin/one'), 0o755);
    await symlink(at('lock'), at('link'));
    const flags = [
      '--kubeconfig=D/kubeconfig',
      '--tls-cert-file=D/crt',
      '--tls-private-key-file=D/key',
      '--client-ca-file=D/ca',
      '--image-credential-provider-config=D/providers',
      '--image-credential-provider-bin-dir=D/bin',
      '--record=D/recording',
      '--root-dir=D/a/b/c',
      '--cert-dir=D/a/b/pki',
    ];
    for (const lock of ['lock', 'link', 'new']) assert.deepEqual(await problemsOf(...flags, `--lock-file=D/${lock}`), []);
  });

  test('of files that this start does not read', async () => {
    const tls = ['--tls-cert-file=D/nope', '--tls-private-key-file=D/nope'];
    const ofServer = [...tls, '--client-ca-file=D/nope'];
    await write('ca', ca.pem);
    await write('kubeconfig', kubeconfig('ca'));
    for (const flags of [
      [...ofServer, '--runonce', '--pod-manifest-path=D/m'],
      [...ofServer, '--enable-server=false', '--cert-dir=/dev/null'],
      [...tls, '--rotate-server-certificates', '--feature-gates=RotateKubeletServerCertificate=true', '--kubeconfig=D/kubeconfig'],
      ['--kubeconfig=D/nope', '--bootstrap-kubeconfig=D/kubeconfig'],
      ['--bootstrap-kubeconfig=D/nope'],
      ['--image-credential-provider-config=D/nope'],
      ['--help', ...ofServer],
    ])
      assert.deepEqual(await problemsOf(...flags), [], flags.join(' '));
  });

  test('but of the bootstrap kubeconfig where both are missing', async () => {
    assert.deepEqual(await problemsOf('--kubeconfig=D/nope', '--bootstrap-kubeconfig=D/none'), [
      `flag --bootstrap-kubeconfig: kubeconfig D/none does not exist: ${gone('open', 'D/none')}`,
    ]);
  });

  test('of what is there by default where anything else is wrong', async () => {
    const load = (...argv: readonly string[]) =>
      loadOptions(argv, {
        hostname: 'n1',
        terminal: false,
        readFile: () => Promise.resolve(''),
        fileFaults: () => Promise.resolve([{ option: 'rootDir', fault: 'no root' }]),
      });
    await assert.rejects(load(), new OptionsError(['flag --root-dir: no root']));
    await assert.rejects(load('valdate'), new OptionsError(['unexpected argument "valdate"; did you mean rxlet validate?']));
  });

  test('of a pipe, which is not opened: what it gives it gives once', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    assert.deepEqual(
      await problemsOf('--kubeconfig=D/pipe', '--client-ca-file=D/pipe', '--tls-cert-file=D/pipe', '--tls-private-key-file=D/pipe'),
      [],
    );
  });

  test('of a file that does not answer for 5 s, while all others are told of', async () => {
    execFileSync('mkfifo', [at('silent')]);
    await write('kubeconfig', kubeconfig('silent'));
    const found = problemsOf('--kubeconfig=D/kubeconfig', '--client-ca-file=D/nope');
    // Opened once it is read: from then on nothing comes.
    const silent = await open(at('silent'), 'w');
    await clock.advance(5_000);
    assert.deepEqual(await found, [`flag --client-ca-file: cannot read D/nope: ${gone('open', 'D/nope')}`]);
    await silent.close();
  });
});
