import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { errorText } from '../../../../src/base/error-text.ts';
import { KubeconfigError, type KubeconfigFault } from '../../../../src/cluster/kube/kubeconfig-error.ts';
import { loadKubeconfig } from '../../../../src/cluster/kube/load-kubeconfig.ts';
import type { ClusterAccess } from '../../../../src/cluster/kube/cluster-access.ts';
import { aCa } from '../../../builders/a-pki.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

const ca = aCa();
const client = ca.issue({ commonName: 'system:node:a', organizations: ['system:nodes'] });
const other = ca.issue({ commonName: 'system:node:b' });
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const never = new AbortController().signal;

let directory: string;
let file: string;
let clock: FakeClock;
let log: RecordingLogger;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rxlet-kubeconfig-'));
  file = join(directory, 'kubelet.conf');
  clock = new FakeClock();
  clock.frame = Date.now();
  log = new RecordingLogger();
});
afterEach(() => rm(directory, { recursive: true }));

/** A kubeconfig with these lines in its cluster and its user. */
const kubeconfig = (cluster: readonly string[], user: readonly string[]): string =>
  [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: lab',
    '  cluster:',
    '    server: https://10.0.0.1:6443/',
    ...cluster.map((line) => `    ${line}`),
    'contexts:',
    '- {name: main, context: {cluster: lab, user: node}}',
    'current-context: main',
    'users:',
    '- name: node',
    `  user:${user.length === 0 ? ' {}' : ''}`,
    ...user.map((line) => `    ${line}`),
    '',
  ].join('\n');

async function load(text: string): Promise<ClusterAccess> {
  await writeFile(file, text);
  return loadKubeconfig(file, { clock, log });
}

/** The file's name stands as FILE, its directory as DIR. */
async function faultOf(work: Promise<unknown>): Promise<readonly [KubeconfigFault, string]> {
  try {
    await work;
  } catch (error) {
    assert(error instanceof KubeconfigError, String(error));
    return [error.fault, error.message.replaceAll(file, 'FILE').replaceAll(directory, 'DIR')];
  }
  return assert.fail('nothing is wrong with it');
}

describe('a kubeconfig says', () => {
  test('where the server is and how it is known', async () => {
    await writeFile(join(directory, 'ca.crt'), ca.pem);
    const { credentials: _, ...access } = await load(
      kubeconfig(['certificate-authority: ca.crt', 'tls-server-name: api.example', 'proxy-url: http://proxy:3128'], []),
    );
    assert.deepEqual(access, {
      server: 'https://10.0.0.1:6443',
      caPem: ca.pem,
      caFile: join(directory, 'ca.crt'),
      insecureSkipTlsVerify: false,
      tlsServerName: 'api.example',
      proxyUrl: 'http://proxy:3128',
      proxy: { url: new URL('http://proxy:3128'), from: 'proxy-url', user: undefined },
      impersonation: undefined,
      origin: `kubeconfig ${file}, context "main", user "node"`,
    });
  });

  for (const [name, cluster, user, expected] of [
    ['nobody', [], [], {}],
    ['a token', [], ['token: abc'], { authorization: 'Bearer abc' }],
    ['a user and a password', [], ['username: u', 'password: p:q'], { authorization: `Basic ${base64('u:p:q')}` }],
    [
      'a certificate in the text',
      [`certificate-authority-data: ${base64(ca.pem)}`],
      [`client-certificate-data: ${base64(client.certificatePem)}`, `client-key-data: ${base64(client.keyPem)}`],
      { identity: client },
    ],
  ] as const) {
    test(`who this is: ${name}`, async () => {
      const { credentials } = await load(kubeconfig(cluster, user));
      assert.deepEqual(await credentials.current(never), { identity: undefined, authorization: undefined, ...expected });
    });
  }

  test('the same in JSON', async () => {
    const text = JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
      clusters: [{ name: 'k', cluster: { server: '10.0.0.1:6443' } }],
      users: [{ name: 'u', user: { token: 't' } }],
    });
    assert.equal((await load(text)).server, 'https://10.0.0.1:6443');
  });
});

describe('what is wrong is said with its place:', () => {
  const at = 'FILE, context "main", user "node"';
  const expiredAtMs = Date.parse('2020-01-01T00:00:00Z');
  const expired = ca.issue({ commonName: 'a', notAfterMs: expiredAtMs });
  for (const [name, text, fault, message] of [
    ['nothing in it', '', 'malformed', 'kubeconfig FILE is empty'],
    ['not YAML', 'clusters:\n  - a: [\n', 'malformed', /^kubeconfig FILE:\d+:\d+: Flow sequence/],
    ['no map', 'hello', 'malformed', 'kubeconfig FILE:1: expected clusters, users and contexts, found none'],
    [
      'no current context',
      kubeconfig([], []).replace('current-context: main', ''),
      'malformed',
      'kubeconfig FILE has no current-context; its contexts are "main"',
    ],
    [
      'a context that is not there',
      kubeconfig([], []).replace('current-context: main', 'current-context: prod'),
      'malformed',
      'kubeconfig FILE: current-context is "prod", which is not there; its contexts are "main"',
    ],
    [
      'a cluster that is not there',
      kubeconfig([], []).replace('- name: lab', '- name: lob'),
      'malformed',
      'kubeconfig FILE: context "main" names cluster "lab", which is not there; its clusters are "lob"',
    ],
    [
      'a user that is not there',
      'current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {server: "https://a"}}]',
      'malformed',
      'kubeconfig FILE: context "c" names user "u", which is not there; it has no users',
    ],
    [
      'no server',
      kubeconfig([], []).replace(/ +server.*\n/, '    tls-server-name: x\n'),
      'malformed',
      'kubeconfig FILE:6: cluster "lab" has no server',
    ],
    [
      'a server that is no URL',
      kubeconfig([], []).replace('https://10.0.0.1:6443/', 'ftp://x'),
      'malformed',
      'kubeconfig FILE:6: server: expected an http or https URL, found "ftp://x"',
    ],
    ['a field of another type', kubeconfig([], ['token: 123']), 'malformed', 'kubeconfig FILE:13: token: expected a string'],
    ['lists that are none', 'current-context: c\ncontexts: c', 'malformed', 'kubeconfig FILE:2: contexts: expected a list of maps'],
    [
      'a CA file that is not there',
      kubeconfig(['certificate-authority: ca.crt'], []),
      'unreadable',
      /^kubeconfig FILE, cluster "lab": certificate-authority DIR\/ca\.crt cannot be read: ENOENT/,
    ],
    [
      'a CA that is none',
      kubeconfig([`certificate-authority-data: ${base64('hello')}`], []),
      'malformed',
      'kubeconfig FILE:7: certificate-authority-data: expected PEM in base64',
    ],
    [
      'a CA that has expired',
      kubeconfig([`certificate-authority-data: ${base64(aCa('old', expiredAtMs).pem)}`], []),
      'expired',
      'kubeconfig FILE: the certificate-authority of cluster "lab" expired at 2020-01-01T00:00:00Z',
    ],
    [
      'a CA that is not to be used',
      kubeconfig([`certificate-authority-data: ${base64(ca.pem)}`, 'insecure-skip-tls-verify: true'], []),
      'malformed',
      'kubeconfig FILE:8: cluster "lab" has a certificate-authority and insecure-skip-tls-verify; choose one',
    ],
    [
      'a certificate without its key',
      kubeconfig([], [`client-certificate-data: ${base64(client.certificatePem)}`]),
      'malformed',
      `kubeconfig ${at}: there is a client-certificate but no client-key`,
    ],
    [
      'a key of another certificate',
      kubeconfig([], [`client-certificate-data: ${base64(client.certificatePem)}`, `client-key-data: ${base64(other.keyPem)}`]),
      'malformed',
      `kubeconfig ${at}: client certificate: the client key belongs to another certificate`,
    ],
    [
      'a certificate that has expired',
      kubeconfig([], [`client-certificate-data: ${base64(expired.certificatePem)}`, `client-key-data: ${base64(expired.keyPem)}`]),
      'expired',
      `kubeconfig ${at}: client certificate expired at 2020-01-01T00:00:00Z`,
    ],
    [
      'a certificate file that is not there',
      kubeconfig([], ['client-certificate: client.pem', 'client-key: client.pem']),
      'unreadable',
      /^kubeconfig FILE, context "main", user "node": client-(certificate|key) DIR\/client\.pem cannot be read: ENOENT/,
    ],
    ['a token file that is empty', kubeconfig([], ['tokenFile: /dev/null']), 'malformed', `kubeconfig ${at}: tokenFile /dev/null is empty`],
    [
      'two ways at once',
      kubeconfig([], ['token: a', 'username: b']),
      'malformed',
      `kubeconfig ${at}: there is a token and a username; choose one`,
    ],
    [
      'two plugins',
      kubeconfig([], ['auth-provider: {name: gcp}', 'exec: {command: a}']),
      'malformed',
      'kubeconfig FILE:13: there is an auth-provider and exec; choose one',
    ],
    [
      'a plugin without a name',
      kubeconfig([], ['auth-provider: {config: {}}']),
      'malformed',
      'kubeconfig FILE:13: auth-provider has no name',
    ],
    [
      'a proxy of another kind, its password not repeated',
      kubeconfig(['proxy-url: ftp://u:sesame@proxy'], []),
      'malformed',
      'kubeconfig FILE:7: proxy-url: expected the URL of an http, https or socks5 proxy',
    ],
    [
      'someone to act for who has no name',
      kubeconfig([], ['as-groups: [a]']),
      'malformed',
      'kubeconfig FILE:13: as-groups: there is no "as" that says whom to act for',
    ],
    [
      'a plugin of unknown kind',
      kubeconfig([], ['exec: {command: a}']),
      'malformed',
      /^kubeconfig FILE:13: apiVersion: expected client\.authentication/,
    ],
  ] as readonly (readonly [string, string, KubeconfigFault, string | RegExp])[]) {
    test(name, async () => {
      const [found, said] = await faultOf(load(text));
      assert.equal(found, fault);
      if (typeof message === 'string') assert.equal(said, message);
      else assert.match(said, message);
    });
  }

  test('no file', async () => {
    assert.deepEqual(await faultOf(loadKubeconfig(file, { clock, log })), ['missing', 'kubeconfig FILE does not exist']);
  });

  test('a directory', async () => {
    const [fault, message] = await faultOf(loadKubeconfig(directory, { clock, log }));
    assert.equal(fault, 'unreadable');
    assert.match(message, /^kubeconfig DIR cannot be read: EISDIR/);
  });
});

describe('files are read again', () => {
  test('a token, after a minute or when it is not believed; the last one stays when there is none', async () => {
    const path = join(directory, 'token');
    await writeFile(path, 'one\n');
    const { credentials } = await load(kubeconfig([], ['tokenFile: token', 'token: other']));
    const token = async (): Promise<string | undefined> => (await credentials.current(never)).authorization;
    assert.equal(await token(), 'Bearer one');
    await writeFile(path, 'two\n');
    await clock.advance(59_000);
    assert.equal(await token(), 'Bearer one');
    await clock.advance(1_000);
    assert.equal(await token(), 'Bearer two');
    await rm(path);
    assert.equal(credentials.refused(), true);
    assert.equal(await token(), 'Bearer two');
    assert.match(String(log.lines[0]?.fields['error']), /tokenFile .* cannot be read/);
    await writeFile(path, 'three');
    credentials.refused();
    assert.equal(await token(), 'Bearer three');
  });

  test('a certificate and its key, never halves of two', async () => {
    const [certificatePath, keyPath] = [join(directory, 'c.pem'), join(directory, 'k.pem')];
    await Promise.all([writeFile(certificatePath, client.certificatePem), writeFile(keyPath, client.keyPem)]);
    const { credentials } = await load(kubeconfig([], ['client-certificate: c.pem', 'client-key: k.pem']));
    await writeFile(certificatePath, other.certificatePem);
    credentials.refused();
    assert.deepEqual((await credentials.current(never)).identity, client);
    await writeFile(keyPath, other.keyPem);
    credentials.refused();
    assert.deepEqual((await credentials.current(never)).identity, other);
  });
});

describe('an exec plugin', () => {
  const apiVersion = 'client.authentication.k8s.io/v1';
  const answer = (status: object): string => JSON.stringify({ kind: 'ExecCredential', apiVersion, status });
  /** A plugin that counts its runs in a file and prints what the script says. */
  async function plugin(script: string, more: readonly string[] = []): Promise<ClusterAccess> {
    const path = join(directory, 'plugin');
    await writeFile(path, `#!/bin/sh\necho run >>${join(directory, 'runs')}\n${script}\n`);
    await chmod(path, 0o755);
    return load(kubeconfig([], ['exec:', `  apiVersion: ${apiVersion}`, '  command: ./plugin', ...more.map((line) => `  ${line}`)]));
  }
  const runs = async (): Promise<number> =>
    (await import('node:fs/promises')).readFile(join(directory, 'runs'), 'utf8').then((text) => text.trim().split('\n').length);

  test('gives a token until it expires, and runs once for many', async () => {
    const expirationTimestamp = new Date(clock.now() + 90_000).toISOString();
    const { credentials } = await plugin(`echo '${answer({ token: 't', expirationTimestamp })}'`);
    const many = await Promise.all([1, 2, 3].map(() => credentials.current(never)));
    assert.deepEqual(
      many,
      [1, 2, 3].map(() => ({ identity: undefined, authorization: 'Bearer t' })),
    );
    assert.equal(await runs(), 1);
    await clock.advance(89_000);
    await credentials.current(never);
    assert.equal(await runs(), 1);
    await clock.advance(1_000);
    await credentials.current(never);
    assert.equal(await runs(), 2);
    credentials.refused();
    await credentials.current(never);
    assert.equal(await runs(), 3);
  });

  test('gives a certificate, and is told its arguments, its environment and the cluster', async () => {
    const status = { clientCertificateData: client.certificatePem, clientKeyData: client.keyPem };
    const { credentials } = await plugin(
      `[ "$1 $2 $A" = "x y z" ] || exit 3; echo "$KUBERNETES_EXEC_INFO" | grep -q '"server":"https://10.0.0.1:6443"' || exit 4\ncat <<'X'\n${answer(status)}\nX`,
      ['args: [x, "y"]', 'env: [{name: A, value: z}]', 'provideClusterInfo: true'],
    );
    assert.deepEqual(await credentials.current(never), { identity: client, authorization: undefined });
  });

  for (const [name, script, fault, message] of [
    ['that fails says so', 'echo no key >&2; exit 7', 'unreadable', /exec plugin \.\/plugin failed \(exit code 7\): no key$/],
    ['that prints something else', 'echo hello', 'malformed', /its output is not JSON$/],
    [
      'of another version',
      `echo '{"kind":"ExecCredential","apiVersion":"x"}'`,
      'malformed',
      /its output is not of client\.authentication\.k8s\.io\/v1,/,
    ],
    ['that gives nothing', `echo '${answer({})}'`, 'malformed', /neither a token nor a client certificate$/],
  ] as const) {
    test(name, async () => {
      const { credentials } = await plugin(script);
      const [found, said] = await faultOf(credentials.current(never));
      assert.equal(found, fault);
      assert.match(said, message);
    });
  }

  for (const [name, script] of [
    ['fails', 'exit 1'],
    ['is killed', 'kill -9 $$'],
    ['prints too much', 'yes | head -c 2000000'],
  ] as const) {
    test(`that ${name} is named, its arguments and its environment are not: they may be secret`, async () => {
      const { credentials } = await plugin(script, ['args: [--password=sesame]', 'env: [{name: A, value: sesame}]']);
      await assert.rejects(credentials.current(never), (error) => {
        assert.match(errorText(error), /exec plugin \.\/plugin failed/);
        assert.doesNotMatch(errorText(error), /sesame/);
        assert.doesNotMatch(inspect(error, { depth: 10 }), /sesame/);
        return true;
      });
    });
  }

  test('that is not there is named with the hint how to get it', async () => {
    const { credentials } = await load(
      kubeconfig([], ['exec:', `  apiVersion: ${apiVersion}`, '  command: no-such-plugin', '  installHint: install it with apt']),
    );
    const [fault, message] = await faultOf(credentials.current(never));
    assert.equal(fault, 'unreadable');
    assert.equal(message, 'kubeconfig FILE, context "main", user "node": exec plugin no-such-plugin is not there; install it with apt');
  });
});
