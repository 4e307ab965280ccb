import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { silentLogger } from '../../../../src/base/logger.ts';
import type { ProvidedCredentials } from '../../../../src/images/providers/credential-providers.ts';
import type { Pod } from '../../../../src/model/pod.ts';
import { serviceAccountReader } from '../../../../src/objects/service-account-reader.ts';
import { TokenManager } from '../../../../src/objects/token-manager.ts';
import type { ApiRequest } from '../../../../src/ports/kube-api.ts';
import { aPod } from '../../../builders/a-pod.ts';
import { answer, config, provider, providersUnderTest } from '../../../builders/providers-under-test.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { refusals } from '../../../fakes/fake-kube-api.ts';

const { signal } = new AbortController();
const wanting = (more: string): string => `, tokenAttributes: {serviceAccountTokenAudience: registry.example, ${more}}`;
const required = wanting('requireServiceAccount: true, cacheType: ServiceAccount');
const token = (n: number): string => `eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhcHAifQ.c2lnbmF0dXJlLW9m-${n}`;
const granted = `cat >>"$0.asked"; echo >>"$0.asked"; echo '${answer('{"a.example":{"username":"u","password":"p"}}')}'`;
const app = (name: string, serviceAccountName = 'app'): Pod => aPod(name, { serviceAccountName });

/** An API server with any service account, which issues token 1, 2 and so on. */
function anApi() {
  const clock = new FakeClock();
  const requests: ApiRequest[] = [];
  const annotations: Record<string, string> = { 'a.example/role': 'puller', 'a.example/zone': 'z', other: 'kept to itself' };
  const account = { uid: 'uid-1', annotations };
  const answers: { get?: () => Promise<never>; post?: () => Promise<never> } = {};
  let issued = 0;
  const request = async <T>(asked: ApiRequest): Promise<T> => {
    requests.push(asked);
    const isPost = asked.method === 'POST';
    const other = isPost ? answers.post : answers.get;
    if (other) return other();
    const object: unknown = isPost ? { spec: { expirationSeconds: 3_600 }, status: { token: token(++issued) } } : { metadata: account };
    return object as T;
  };
  const tokens = new TokenManager({ api: { request }, clock, log: silentLogger, random: () => 0 });
  return { clock, requests, account, answers, api: { serviceAccount: serviceAccountReader({ request }), tokens } };
}

const asked = async (directory: string, name = 'one'): Promise<readonly string[]> => {
  const text = await readFile(join(directory, `${name}.asked`), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
};
const users = async (provided: ProvidedCredentials, pod: Pod, image = 'a.example/app'): Promise<readonly string[]> =>
  (await provided(image, pod, signal)).flat().map(({ username }) => username);

test('a provider gets a token bound to the pod and the annotations it wants, on its standard input alone', async (t) => {
  const { clock, requests, api } = anApi();
  const keys = 'requiredServiceAccountAnnotationKeys: [a.example/role], optionalServiceAccountAnnotationKeys: [a.example/zone, absent]';
  const script = `{ env; echo "$@"; tr '\\0' ' ' </proc/$$/cmdline; } >"$0.seen"; ${granted}`;
  const of = wanting(`requireServiceAccount: true, cacheType: Token, ${keys}`);
  const { directory, open, logged } = await providersUnderTest(t, config(provider('one', of)), { one: script });
  assert.deepEqual(await users(await open({ api, clock }), app('web')), ['u']);
  assert.deepEqual(await asked(directory), [
    JSON.stringify({
      kind: 'CredentialProviderRequest',
      apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
      image: 'a.example/app',
      serviceAccountToken: token(1),
      serviceAccountAnnotations: { 'a.example/role': 'puller', 'a.example/zone': 'z' },
    }),
  ]);
  assert.deepEqual(requests, [
    { method: 'GET', path: '/api/v1/namespaces/default/serviceaccounts/app' },
    {
      method: 'POST',
      path: '/api/v1/namespaces/default/serviceaccounts/app/token',
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        metadata: { uid: 'uid-1' },
        spec: {
          audiences: ['registry.example'],
          expirationSeconds: 3_600,
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'uid-web' },
        },
      },
    },
  ]);
  assert.doesNotMatch((await readFile(join(directory, 'one.seen'), 'utf8')) + logged.join('\n'), /eyJ/);
});

describe('whose name a provider is not asked in', () => {
  const ofFile = aPod('file', { serviceAccountName: 'app' }, { annotations: { 'kubernetes.io/config.source': 'file' } });
  for (const [name, pod] of [
    ['a pod without a service account', aPod('bare')],
    ['a static pod', ofFile],
  ] as const) {
    test(`${name}: a provider that requires one is passed over, another one gets no token`, async (t) => {
      const { clock, requests, api } = anApi();
      const free = wanting('requireServiceAccount: false, cacheType: Token');
      const given = await providersUnderTest(t, config(provider('one', required), provider('free', free)), { one: granted, free: granted });
      assert.deepEqual(await users(await given.open({ api, clock }), pod), ['u']);
      assert.deepEqual(await asked(given.directory), []);
      assert.deepEqual(await asked(given.directory, 'free'), [
        '{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1","image":"a.example/app"}',
      ]);
      assert.deepEqual(requests, []);
      assert.ok(given.lines.includes('credential provider not asked "one": the pod has no service account'));
    });
  }

  test('a service account without a required annotation: no token is requested', async (t) => {
    const { clock, requests, api } = anApi();
    const of = wanting('requireServiceAccount: true, cacheType: Token, requiredServiceAccountAnnotationKeys: [absent]');
    const { directory, open, lines } = await providersUnderTest(t, config(provider('one', of)), { one: granted });
    assert.deepEqual(await users(await open({ api, clock }), app('web')), []);
    assert.deepEqual(await asked(directory), []);
    assert.equal(requests.length, 1);
    const why = 'required annotation absent not found on the service account default/app';
    assert.equal(lines.at(-1), `credential provider not asked "one": ${why}`);
  });

  test('without an API server, a provider that requires service accounts is named once', async (t) => {
    const free = wanting('requireServiceAccount: false, cacheType: Token');
    const given = await providersUnderTest(t, config(provider('one', required), provider('free', free)), { one: granted, free: granted });
    const provided = await given.open();
    for (const pod of [ofFile, app('web')]) assert.deepEqual(await users(provided, pod), ['u']);
    assert.deepEqual(await asked(given.directory), []);
    assert.equal(given.lines.filter((line) => line.includes('is never asked: it requires service accounts')).length, 1);
  });

  test('an image that is not for the provider costs no request', async (t) => {
    const { clock, requests, api } = anApi();
    const { open } = await providersUnderTest(t, config(provider('one', required)), { one: granted });
    assert.deepEqual(await users(await open({ api, clock }), app('web'), 'elsewhere.org/app'), []);
    assert.deepEqual(requests, []);
  });
});

describe('for whom an answer counts', () => {
  test('cacheType ServiceAccount: for all pods of the account, until it or its annotations are others', async (t) => {
    const { clock, account, api } = anApi();
    const of = required.replace('}', ', optionalServiceAccountAnnotationKeys: [a.example/role]}');
    const { directory, open } = await providersUnderTest(t, config(provider('one', of)), { one: granted });
    const provided = await open({ api, clock });
    const runs = async (pod: Pod, image?: string): Promise<number> => {
      await users(provided, pod, image);
      return (await asked(directory)).length;
    };
    assert.equal(await runs(app('web')), 1);
    assert.equal(await runs(app('db'), 'a.example/another'), 1);
    assert.equal(await runs(app('web', 'builder')), 2);
    account.annotations['other'] = 'not the matter of the provider';
    assert.equal(await runs(app('web')), 2);
    account.annotations['a.example/role'] = 'none';
    assert.equal(await runs(app('web')), 3);
    account.uid = 'uid-2';
    assert.equal(await runs(app('web')), 4);
  });

  test('cacheType Token: for the token, not for the next one, however long the provider says', async (t) => {
    const { clock, api } = anApi();
    const of = wanting('requireServiceAccount: true, cacheType: Token');
    const days = `cat >>"$0.asked"; echo >>"$0.asked"; echo '${answer('{"a.example":{"username":"u","password":"p"}}', ',"cacheDuration":"72h"')}'`;
    const { directory, open } = await providersUnderTest(t, config(provider('one', of)), { one: days });
    const provided = await open({ api, clock });
    const tokensTold = async (): Promise<readonly unknown[]> =>
      (await asked(directory)).map((line) => /"serviceAccountToken":"([^"]*)"/.exec(line)?.[1]);
    for (const pod of [app('web'), app('web'), app('db')]) await users(provided, pod);
    assert.deepEqual(await tokensTold(), [token(1), token(2)]);
    await clock.advance(3_600_000 * 0.8);
    await users(provided, app('web'));
    assert.deepEqual(await tokensTold(), [token(1), token(2), token(3)]);
  });
});

describe('what fails', () => {
  test('a refused request is said with the right to grant, once for each service account, and others are asked', async (t) => {
    const { clock, answers, api } = anApi();
    const given = await providersUnderTest(t, config(provider('one', required), provider('plain')), { one: granted, plain: granted });
    const provided = await given.open({ api, clock });
    answers.post = () => Promise.reject(refusals.forbidden('audience'));
    for (const pod of [app('web'), app('web', 'builder'), app('db'), app('db', 'builder')])
      assert.deepEqual(await users(provided, pod), ['u']);
    delete answers.post;
    answers.get = () => Promise.reject(refusals.forbidden());
    assert.deepEqual(await users(provided, app('web')), ['u']);
    delete answers.get;
    assert.deepEqual(await users(provided, app('web')), ['u', 'u']);
    const said = given.lines.slice(1);
    assert.equal(said.length, 4);
    assert.match(said[0] ?? '', /^credential provider failed, pulling without it "one": no token of the service account default\/app for/);
    assert.match(
      said[0] ?? '',
      /forbidden: audience; allow .* system:nodes the verb request-serviceaccounts-token-audience on "registry.example"$/,
    );
    assert.match(said[1] ?? '', /no token of the service account default\/builder/);
    assert.match(said[2] ?? '', /default\/app could not be read: forbidden: .*; allow the group system:nodes to get serviceaccounts$/);
    assert.match(said[3] ?? '', /^credential provider answers again "one"/);
  });

  test('an API server that never answers is waited for half a minute', async (t) => {
    const { clock, answers, api } = anApi();
    const given = await providersUnderTest(t, config(provider('one', required), provider('plain')), { one: granted, plain: granted });
    const provided = await given.open({ api, clock });
    answers.post = () => new Promise<never>(() => {});
    const found = users(provided, app('web'));
    await clock.advance(29_999);
    assert.equal(given.lines.length, 1);
    await clock.advance(1);
    assert.deepEqual(await found, ['u']);
    assert.match(given.lines[1] ?? '', /service account default\/app and getting its token from the API server took longer than 30 s$/);
  });

  test('a pod that goes does not wait for it, and nothing is said', async (t) => {
    const { clock, answers, api } = anApi();
    const given = await providersUnderTest(t, config(provider('one', required)), { one: granted });
    const provided = await given.open({ api, clock });
    answers.get = () => new Promise<never>(() => {});
    const gone = new AbortController();
    const found = provided('a.example/app', app('web'), gone.signal);
    gone.abort();
    assert.deepEqual(await found, [[]]);
    assert.equal(given.lines.length, 1);
  });

  test('a program that prints its token, whole or in parts, is quoted without it', async (t) => {
    const { clock, api } = anApi();
    const leak = `T=$(sed 's/.*Token":"//; s/".*//'); echo "denied: bearer=$T" >&2; echo "\${T#*.}x $T" | fold -w 20 >&2; exit 1`;
    const { open, logged } = await providersUnderTest(t, config(provider('one', required)), { one: leak });
    assert.deepEqual(await users(await open({ api, clock }), app('web')), []);
    assert.match(logged.at(-1) ?? '', /exit code 1: .*\[redacted\]/);
    for (const part of token(1).split('.')) assert.ok(!logged.join('\n').includes(part.slice(0, 8)), part);
  });

  test('a token as a password is taken with cacheType Token only', async (t) => {
    const { clock, api } = anApi();
    const echo = `T=$(sed 's/.*Token":"//; s/".*//'); echo '${answer('{"a.example":{"username":"u","password":"\'"$T"\'"}}')}'`;
    const byToken = wanting('requireServiceAccount: true, cacheType: Token');
    const given = await providersUnderTest(t, config(provider('one', required), provider('two', byToken)), { one: echo, two: echo });
    assert.deepEqual(await (await given.open({ api, clock }))('a.example/app', app('web'), signal), [
      [],
      [
        {
          location: 'a.example',
          username: 'u',
          password: token(2),
          source: { serviceAccount: { uid: 'uid-1', namespace: 'default', name: 'app' } },
        },
      ],
    ]);
    assert.match(given.lines.at(-1) ?? '', /returned the service account token as the password for image "a.example\/app"/);
    assert.doesNotMatch(given.logged.join('\n'), /eyJ/);
  });
});
