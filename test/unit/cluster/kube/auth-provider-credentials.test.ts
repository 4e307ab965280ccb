import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, test, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import { errorText } from '../../../../src/base/error-text.ts';
import { readYamlDocument } from '../../../../src/base/yaml-document.ts';
import type { JsonObject } from '../../../../src/base/json-object.ts';
import { keepTokens } from '../../../../src/cluster/kube/keep-tokens.ts';
import { formatTime } from '../../../../src/model/time.ts';
import { loadKubeconfig } from '../../../../src/cluster/kube/load-kubeconfig.ts';
import type { CredentialSource } from '../../../../src/ports/api-credentials.ts';
import { aCa } from '../../../builders/a-pki.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

const never = new AbortController().signal;
const HOUR_S = 3_600;

let directory: string;
let clock: FakeClock;
let log: RecordingLogger;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rxlet-auth-provider-'));
  clock = new FakeClock();
  log = new RecordingLogger();
  clock.frame = Date.now();
});
afterEach(() => rm(directory, { recursive: true }));

/** The credentials of a user who has these fields. */
async function credentialsOf(user: object): Promise<CredentialSource> {
  const file = join(directory, 'kubelet.conf');
  const kubeconfig = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
    clusters: [{ name: 'k', cluster: { server: 'https://10.0.0.1:6443' } }],
    users: [{ name: 'u', user }],
  };
  await writeFile(file, JSON.stringify(kubeconfig));
  return (await loadKubeconfig(file, deps())).credentials;
}
const deps = () => ({ clock, log, env: {} });

/** The config of each user's provider. */
async function kubeconfigNow(): Promise<{ readonly users: readonly JsonObject[] }> {
  const { content } = readYamlDocument(await readFile(join(directory, 'kubelet.conf'), 'utf8'));
  const { users } = content as { users: { user: { 'auth-provider'?: { config?: JsonObject } } }[] };
  return { users: users.map(({ user }) => user['auth-provider']?.config ?? {}) };
}

const provided = (name: string, config: object): Promise<CredentialSource> => credentialsOf({ 'auth-provider': { name, config } });
const authorizationOf = async (source: CredentialSource): Promise<string | undefined> => (await source.current(never)).authorization;

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
/** A JSON Web Token that nobody has signed. */
const jwt = (claims: object): string => `${part({ alg: 'none' })}.${part(claims)}.c2lnbmVk`;
const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** A command that counts its runs and prints what the script says. */
async function command(script: string): Promise<string> {
  const path = join(directory, 'command');
  await writeFile(path, `#!/bin/sh\necho run >>${join(directory, 'runs')}\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}
const runs = async (): Promise<number> => (await readFile(join(directory, 'runs'), 'utf8')).trim().split('\n').length;

test('a token of oidc that is in force is shown', async () => {
  const token = jwt({ exp: nowSeconds() + HOUR_S });
  assert.deepEqual(await (await provided('oidc', { 'id-token': token })).current(never), {
    identity: undefined,
    authorization: `Bearer ${token}`,
  });
});

/** An identity provider with a CA of its own, and the config of who has a token of it that has ended. */
async function anIdp(t: TestContext): Promise<{ readonly grants: readonly (string | null)[]; readonly config: object }> {
  const ca = aCa();
  const { certificatePem, keyPem } = ca.issue({ commonName: 'idp', hosts: ['127.0.0.1'] });
  const grants: (string | null)[] = [];
  const idp = createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    void text(request).then((body) => {
      const issuer = `https://127.0.0.1:${(idp.address() as AddressInfo).port}`;
      response.setHeader('content-type', 'application/json');
      if (request.url?.startsWith('/.well-known/')) {
        response.end(JSON.stringify({ issuer, token_endpoint: `${issuer}/token`, response_types_supported: ['code'] }));
        return;
      }
      grants.push(new URLSearchParams(body).get('refresh_token'));
      const claims = { iss: issuer, aud: 'kube', sub: 'me', iat: nowSeconds(), exp: nowSeconds() + HOUR_S };
      const id = `${part({ alg: 'RS256' })}.${part(claims)}.c2lnbmVk`;
      response.end(
        JSON.stringify({ access_token: 'a', token_type: 'bearer', expires_in: 1, id_token: id, refresh_token: `refresh-${grants.length}` }),
      );
    });
  }).listen(0, '127.0.0.1');
  await once(idp, 'listening');
  t.after(() => {
    idp.closeAllConnections();
    idp.close();
  });
  return {
    grants,
    config: {
      'idp-issuer-url': `https://127.0.0.1:${(idp.address() as AddressInfo).port}`,
      'idp-certificate-authority-data': Buffer.from(ca.pem).toString('base64'),
      'client-id': 'kube',
      'refresh-token': 'refresh-0',
      'id-token': jwt({ exp: nowSeconds() - HOUR_S }),
    },
  };
}

test('one of oidc that has ended is exchanged for another, at a provider with a CA of its own, also for the next agent', async (t) => {
  const { grants, config } = await anIdp(t);
  const source = await provided('oidc', config);
  const first = await authorizationOf(source);
  assert.match(first ?? '', /^Bearer ey/);
  assert.equal(await authorizationOf(source), first);
  const [user] = (await kubeconfigNow()).users;
  assert.deepEqual(user, { ...config, 'id-token': first?.replace('Bearer ', ''), 'refresh-token': 'refresh-1' });
  assert.equal((await stat(join(directory, 'kubelet.conf'))).mode & 0o777, 0o600);
  assert.equal(await authorizationOf((await loadKubeconfig(join(directory, 'kubelet.conf'), deps())).credentials), first);
  assert.deepEqual(grants, ['refresh-0']);
});

test("a provider's command is run once for many, and not again while its token lasts", async () => {
  const expiry = formatTime(Date.now() + HOUR_S * 1000);
  const source = await provided('gcp', {
    'cmd-path': await command(`echo '{"credential":{"token":"t","expiry":"${expiry}"}}'`),
    'token-key': '{.credential.token}',
    'expiry-key': '{.credential.expiry}',
  });
  assert.deepEqual(await Promise.all([1, 2, 3].map(() => authorizationOf(source))), ['Bearer t', 'Bearer t', 'Bearer t']);
  await clock.advance(HOUR_S * 1000 - 60_000);
  await authorizationOf(source);
  assert.equal(await runs(), 1);
});

describe('what is wrong is said', () => {
  test('without the command line and its output, which may be secret', async () => {
    for (const script of ['echo sesame >&2; exit 7', 'echo sesame']) {
      const source = await provided('azure', { 'cmd-path': await command(script), 'cmd-args': '--password=sesame', 'token-key': '{.t}' });
      await assert.rejects(source.current(never), (error) => {
        assert.match(
          errorText(error),
          /^kubeconfig .*: auth-provider azure failed: (its command failed \(exit code 7\)|what its command printed is not JSON)$/,
        );
        assert.doesNotMatch(inspect(error, { depth: 10 }), /sesame/);
        return true;
      });
    }
  });

  test('of a token that is too long to be one, of which nothing is repeated', async () => {
    const print = `printf '{"t":"'; head -c 600000 /dev/zero | tr '\\0' s; printf '","e":"%s"}' ${formatTime(Date.now() + HOUR_S * 1000)}`;
    const source = await provided('azure', { 'cmd-path': await command(print), 'token-key': '{.t}', 'expiry-key': '{.e}' });
    await assert.rejects(source.current(never), (error) => {
      assert.match(errorText(error), /^kubeconfig .*: auth-provider azure failed: what it gave is more than a megabyte, or broken$/);
      return true;
    });
  });

  test('of a provider that nobody knows, and of a token that has ended and cannot be exchanged', async () => {
    for (const source of [await provided('openstack', {}), await provided('oidc', { 'id-token': jwt({ exp: 1 }) })]) {
      await assert.rejects(source.current(never), {
        name: 'KubeconfigError',
        fault: 'malformed',
        message: /gives no token: azure, gcp, oidc and exec are known/,
      });
    }
  });
});

test('a token of its own spares a user the provider', async () => {
  const source = await credentialsOf({ token: 'own', 'auth-provider': { name: 'openstack' } });
  assert.equal(await authorizationOf(source), 'Bearer own');
});

describe('new tokens are written into the kubeconfig', () => {
  const text = `# of the cluster
users:
- name: other
  user: {}
- name: me # myself
  user:
    auth-provider:
      name: oidc
      config: {client-id: kube, refresh-token: r0, id-token: i0}
`;
  const before = { 'client-id': 'kube', 'refresh-token': 'r0', 'id-token': 'i0' };
  const now = { ...before, 'refresh-token': 'r1', 'id-token': 'i1', 'idp-issuer-url': 'as a client has it' };
  const file = (): string => join(directory, 'conf');
  const keep = (user = 'me'): Promise<void> => keepTokens({ file: file(), userName: user }, before, now);

  test('and nothing else of it changes, a link to it included', async () => {
    await mkdir(join(directory, 'real'));
    await writeFile(join(directory, 'real/conf'), text);
    await symlink('real/conf', file());
    await keep();
    assert.equal(
      await readFile(file(), 'utf8'),
      text.replace('{client-id: kube, refresh-token: r0, id-token: i0}', '{ client-id: kube, refresh-token: r1, id-token: i1 }'),
    );
    assert.equal(await realpath(file()), await realpath(join(directory, 'real/conf')));
  });

  test('unless someone else has changed them, or the user is gone', async () => {
    for (const [user, other] of [
      ['me', text.replace('r0', 'r7')],
      ['nobody', text],
      ['me', 'users: 7'],
    ] as const) {
      await writeFile(file(), other);
      await keep(user);
      assert.equal(await readFile(file(), 'utf8'), other);
    }
  });

  test('and where that fails the agent goes on with them, and says so', async (t) => {
    const { grants, config } = await anIdp(t);
    const source = await provided('oidc', config);
    await rename(join(directory, 'kubelet.conf'), join(directory, 'elsewhere'));
    const first = await authorizationOf(source);
    assert.deepEqual([await authorizationOf(source), grants], [first, ['refresh-0']]);
    assert.deepEqual(
      log.lines.map(({ level, message }) => [level, message.slice(0, 31)]),
      [['warn', 'renewed credentials not written']],
    );
  });
});
