import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { systemClock } from '../../../../src/base/clock.ts';
import { errorText } from '../../../../src/base/error-text.ts';
import { heardLogger } from '../../../../src/base/heard-logger.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import { credentialProviders } from '../../../../src/images/providers/credential-providers.ts';
import { keyring } from '../../../../src/images/keyring.ts';

const provider = (name: string, more = ''): string =>
  `- {name: ${name}, apiVersion: credentialprovider.kubelet.k8s.io/v1, matchImages: ["*.example"], defaultCacheDuration: 1m${more}}\n`;
const config = (...providers: readonly string[]): string =>
  `apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\nproviders:\n${providers.join('')}`;
const answer = (auth: string, more = ''): string =>
  `{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Registry","auth":${auth}${more}}`;

async function given(t: TestContext, text: string, programs: Readonly<Record<string, string>>) {
  const directory = await mkdtemp(join(tmpdir(), 'rxlet-providers-'));
  t.after(() => rm(directory, { recursive: true }));
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(directory, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(directory, name), 0o755);
  }
  const path = join(directory, 'providers.yaml');
  await writeFile(path, text);
  const lines: string[] = [];
  const log = heardLogger(silentLogger, ({ message, fields }) => {
    lines.push(`${message} ${JSON.stringify(fields['provider'])}: ${errorText(fields['error'])}`);
  });
  return { directory, lines, open: () => credentialProviders({ path, directory, clock: systemClock, log }) };
}

describe('a credential provider', () => {
  test('is asked in its own version, with its arguments and environment, once for all that counts for', async (t) => {
    const script = `cat >>"$ASKED"; echo " $1" >>"$ASKED"; echo '${answer('{"a.example":{"username":"u","password":"p"}}')}'`;
    const more = ', args: [--as, me], env: [{name: ASKED, value: FILE}]';
    const asked = join(await mkdtemp(join(tmpdir(), 'rxlet-asked-')), 'asked');
    t.after(() => rm(join(asked, '..'), { recursive: true }));
    const { open } = await given(t, config(provider('one', more.replace('FILE', asked))), { one: script });
    const ring = keyring({ entries: () => Promise.resolve([]) }, await open());
    const both = await Promise.all([ring.lookup('a.example/app:1', []), ring.lookup('a.example/app:2', [])]);
    assert.deepEqual(both.flat(), [
      { username: 'u', password: 'p' },
      { username: 'u', password: 'p' },
    ]);
    assert.deepEqual(await ring.lookup('a.example/other', []), [{ username: 'u', password: 'p' }]);
    assert.deepEqual(await ring.lookup('elsewhere.org/app', []), []);
    assert.equal(
      await readFile(asked, 'utf8'),
      '{"kind":"CredentialProviderRequest","apiVersion":"credentialprovider.kubelet.k8s.io/v1","image":"a.example/app"} --as\n',
    );
  });

  test('comes after the credentials of the node, and those that fail are said once and passed over', async (t) => {
    const { open, lines } = await given(t, config(provider('broken'), provider('mute'), provider('huge'), provider('good')), {
      broken: 'echo no access >&2; exit 3',
      mute: `echo 'secret: [hunter2'`,
      huge: 'head -c 3000000 /dev/zero | tr "\\0" "{"',
      good: `echo '${answer('{"a.example":{"username":"u","password":"p"}}', ',"cacheDuration":"0s"')}'`,
    });
    const own = { location: 'a.example', username: 'node', password: 'n' };
    const ring = keyring({ entries: () => Promise.resolve([own]) }, await open());
    for (let i = 0; i < 2; i++) {
      assert.deepEqual(
        (await ring.lookup('a.example/app', [])).map(({ username }) => username),
        ['node', 'u'],
      );
    }
    const failures = lines.filter((line) => line.startsWith('credential provider failed, pulling without it')).toSorted();
    assert.equal(failures.length, 3);
    assert.match(failures[0] ?? '', /"broken": .*broken ended with exit code 3: no access$/);
    assert.match(failures[1] ?? '', /"huge": .*neither JSON nor YAML$/);
    assert.match(failures[2] ?? '', /"mute": .*neither JSON nor YAML$/);
    assert.doesNotMatch(lines.join('\n'), /hunter2|"p"/);
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
      /name cannot contain '\/'; providers.defaultCacheDuration: Invalid value: must be greater/,
    ],
    [
      'that want tokens of service accounts',
      config(provider('one', ', tokenAttributes: {serviceAccountTokenAudience: a, requireServiceAccount: true, cacheType: Token}')),
      /provider one wants tokens of service accounts/,
    ],
    ['of more than a mebibyte', `#${'x'.repeat(1 << 20)}`, /larger than 1048576 bytes/],
  ] as const) {
    test(name, async (t) => {
      const { open } = await given(t, text, { one: 'exit 0' });
      await assert.rejects(open(), found);
    });
  }
});
