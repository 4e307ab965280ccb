import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { keyring } from '../../../../src/images/keyring.ts';
import { aPod } from '../../../builders/a-pod.ts';
import { answer, config, provider, providersUnderTest as given } from '../../../builders/providers-under-test.ts';

const { signal } = new AbortController();
const pod = aPod('web');

describe('a credential provider', () => {
  test('is asked in its own version, with its arguments and environment, once for all that counts for', async (t) => {
    const script = `cat >>"$ASKED"; echo " $1" >>"$ASKED"; echo '${answer('{"a.example":{"username":"u","password":"p"}}')}'`;
    const more = ', args: [--as, me], env: [{name: ASKED, value: FILE}]';
    const asked = join(await mkdtemp(join(tmpdir(), 'rxlet-asked-')), 'asked');
    t.after(() => rm(join(asked, '..'), { recursive: true }));
    const { open } = await given(t, config(provider('one', more.replace('FILE', asked))), { one: script });
    const ring = keyring({ entries: () => Promise.resolve([]) }, await open());
    const both = await Promise.all([ring.lookup('a.example/app:1', [], pod, signal), ring.lookup('a.example/app:2', [], pod, signal)]);
    assert.deepEqual(both.flat(), [
      { username: 'u', password: 'p' },
      { username: 'u', password: 'p' },
    ]);
    assert.deepEqual(await ring.lookup('a.example/other', [], pod, signal), [{ username: 'u', password: 'p' }]);
    assert.deepEqual(await ring.lookup('elsewhere.org/app', [], pod, signal), []);
    assert.equal(
      await readFile(asked, 'utf8'),
      '{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1","image":"a.example/app"} --as\n',
    );
  });

  test('comes after the credentials of the node, and those that fail are said once and passed over', async (t) => {
    const { open, lines, happenings } = await given(t, config(provider('broken'), provider('mute'), provider('huge'), provider('good')), {
      broken: 'echo no access >&2; exit 3',
      mute: `echo 'secret: [hunter2'`,
      huge: 'head -c 3000000 /dev/zero | tr "\\0" "{"',
      good: `echo '${answer('{"a.example":{"username":"u","password":"p"}}', ',"cacheDuration":"0s"')}'`,
    });
    const own = { location: 'a.example', username: 'node', password: 'n' };
    const ring = keyring({ entries: () => Promise.resolve([own]) }, await open());
    for (let i = 0; i < 2; i++) {
      assert.deepEqual(
        (await ring.lookup('a.example/app', [], pod, signal)).map(({ username }) => username),
        ['node', 'u'],
      );
    }
    const failures = lines.filter((line) => line.startsWith('credential provider failed, pulling without it')).toSorted();
    assert.equal(failures.length, 3);
    assert.match(failures[0] ?? '', /"broken": .*broken ended with exit code 3: no access$/);
    assert.match(failures[1] ?? '', /"huge": .*neither JSON nor YAML$/);
    assert.match(failures[2] ?? '', /"mute": .*neither JSON nor YAML$/);
    assert.doesNotMatch(lines.join('\n'), /hunter2|"p"/);
    assert.match(happenings.of('credentialProvidersRead')[0]?.hash ?? '', /^sha256:[0-9a-f]{64}$/);
    const asked = happenings.of('credentialProviderAsked').map(({ provider: name, failed }) => `${name}${failed ? ' failed' : ''}`);
    // What it says is no part of how it ran.
    assert.deepEqual([...new Set(asked)].toSorted(), ['broken failed', 'good', 'huge', 'mute']);
    assert.ok(happenings.of('credentialProviderAsked').every(({ tookMs }) => tookMs > 0));
  });
});

describe('credential providers are refused at start', () => {
  for (const [name, text, found] of [
    [
      'whose programs are not there',
      config(provider('absent')),
      /image-credential-provider-bin-dir .* program of the provider absent cannot be run/,
    ],
    ['that are no configuration', 'kind: Pod', /providers\.yaml: it is no CredentialProviderConfig: apiVersion: /],
    ['of one name', config(provider('one'), provider('one')), /two providers of the name "one"/],
    [
      'that are wrong',
      config(provider('../sh').replace('1m', '-1s')),
      /name cannot contain '\/'; --image-credential-provider-config .*: providers.defaultCacheDuration: Invalid value: must be greater/,
    ],
    ['of more than a mebibyte', `#${'x'.repeat(1 << 20)}`, /larger than 1048576 bytes/],
  ] as const) {
    test(name, async (t) => {
      const { open } = await given(t, text, { one: 'exit 0' });
      await assert.rejects(open(), found);
    });
  }
});

test('without the feature gate, a provider that wants tokens of service accounts is refused at start', async (t) => {
  const wants = ', tokenAttributes: {serviceAccountTokenAudience: a, requireServiceAccount: true, cacheType: Token}';
  const { open } = await given(t, config(provider('one', wants)), { one: 'exit 0' });
  await assert.rejects(
    open({ mayHaveTokens: false }),
    /providers.tokenAttributes: Forbidden: tokenAttributes is not supported when KubeletServiceAccountTokenForCredentialProviders feature gate/,
  );
});
