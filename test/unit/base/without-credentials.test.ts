import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonWithoutCredentials, withoutCredentials } from '../../../src/base/without-credentials.ts';

for (const [text, without] of [
  // URLs
  ['Get "https://robot:hunter2@registry.example/v2/": EOF', 'Get "https://robot:[redacted]@registry.example/v2/": EOF'],
  ['Get "https://hunter2@registry.example/v2/": EOF', 'Get "https://[redacted]@registry.example/v2/": EOF'],
  ['postgres://u:hunter2/@x@db:5432/x', 'postgres://u:[redacted]@db:5432/x'],
  ['redis://:hunter2@cache', 'redis://:[redacted]@cache'],
  [`https://x:${'hunter2'.repeat(100)}@h/`, 'https://x:[redacted]@h/'],
  [
    'Get "https://cdn.example/blob?X-Amz-Expires=60&X-Amz-Signature=hunter2&X-Amz-Security-Token=hunter2": 403',
    'Get "https://cdn.example/blob?X-Amz-Expires=60&X-Amz-Signature=[redacted]&X-Amz-Security-Token=[redacted]": 403',
  ],
  ['https://blob.example/a?sv=1&sig=hunter2%3D', 'https://blob.example/a?sv=1&sig=[redacted]'],
  ['https://maps.example/a?key=hunter2', 'https://maps.example/a?key=[redacted]'],
  // Headers
  ['Authorization: Bearer hunter2.hunter2', 'Authorization: [redacted]'],
  ['curl -H "Authorization: AWS4 Credential=hunter2/a, Signature=hunter2" x', 'curl -H "Authorization: [redacted]" x'],
  ['Cookie: session=hunter2; other=hunter2', 'Cookie: [redacted]'],
  ['it sent bearer hunter2.hunter2', 'it sent bearer [redacted]'],
  ['basic aHVudGVyMg==hunter2', 'basic [redacted]'],
  // Flags
  ['psql --password=hunter2 -h db', 'psql --password=[redacted] -h db'],
  ['psql --password hunter2 -h db', 'psql --password [redacted] -h db'],
  ['tool --db-password "hunter2 and hunter2" run', 'tool --db-password [redacted] run'],
  ["tool -token 'hunter2' run", 'tool -token [redacted] run'],
  ['["tool", "--token=hunter2", "--v=4"]', '["tool", "--token=[redacted]", "--v=4"]'],
  ['login --token=hunter2,hunter2', 'login --token=[redacted]'],
  // Pairs
  ['password=hunter2', 'password=[redacted]'],
  ['error: start: password=hunter2: it is Tuesday', 'error: start: password=[redacted] it is Tuesday'],
  [`err="token=hunter2"`, `err="token=[redacted]"`],
  ['dialing with password=hunter2, host=db', 'dialing with password=[redacted], host=db'],
  ['password=hunter2,host=db', 'password=[redacted],host=db'],
  ['DB_PASSWORD=hunter2 psql', 'DB_PASSWORD=[redacted] psql'],
  ['PGPASSWORD=hunter2', 'PGPASSWORD=[redacted]'],
  ['password1 := hunter2', 'password1 := [redacted]'],
  ["'password' => 'hunter2'", "'password' => [redacted]"],
  ["requirepass: 'hunter2 hunter2'", 'requirepass: [redacted]'],
  ['password: hunter2', 'password: [redacted]'],
  ['password: hunter with two words', 'password: [redacted] with two words'],
  ['{"password": "hunter2, and more hunter2", "a": 1}', '{"password": [redacted], "a": 1}'],
  [String.raw`{"password": "hunter2\" hunter2", "a": 1}`, '{"password": [redacted], "a": 1}'],
  [String.raw`{\"client_secret\":\"hunter2\",\"a\":1}`, String.raw`{\"client_secret\":[redacted],\"a\":1}`],
  ['{"password": "hunter2 that is cut o', '{"password": [redacted]'],
  ['env[DB_PASSWORD]=hunter2', 'env[DB_PASSWORD]=[redacted]'],
  ['token=hunter2&x=1', 'token=[redacted]&x=1'],
  ['api-key: hunter2', 'api-key: [redacted]'],
  ['AWS_SECRET_ACCESS_KEY=hunter2', 'AWS_SECRET_ACCESS_KEY=[redacted]'],
  ['passphrase=hunter2', 'passphrase=[redacted]'],
  ['read -----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY----- from it', 'read [redacted] from it'],
  ['-----BEGIN PRIVATE KEY-----\nhunter2 that is cut o', '[redacted]'],
] as const) {
  test(`leaves out the credential of ${text.slice(0, 100)}`, () => {
    assert.equal(withoutCredentials(text), without);
    assert.equal(withoutCredentials(without), without, 'and the same of what is without already');
  });
}

for (const text of [
  'Secret default/not-there is not found',
  'secret "creds" not found',
  'MountVolume.SetUp failed for volume "kube-api-access" : failed to fetch token: serviceaccounts "robot" is forbidden',
  'failed to fetch anonymous token: unexpected status from GET request to https://auth.example/token?scope=x: 401 Unauthorized',
  'failed to fetch oauth token: Get "https://auth.example/token": EOF',
  'failed to fetch token: EOF',
  'spec.containers[0].env[0].valueFrom.secretKeyRef.name: Required value',
  'spec.volumes[0].secret.secretName: Invalid value: "No_Name": a lowercase RFC 1123 subdomain must consist of lower case letters',
  'unknown field "password": did you mean "passwordFile"?',
  'incorrect username or password: unauthorized',
  'authorization: permission denied by the registry',
  'may require authorization: server message: insufficient_scope: authorization failed',
  'may require authorization: authorization failed: no basic auth credentials',
  'flag --token is required',
  'docker login --password-stdin',
  '--token-file=/var/run/token --service-account-private-key-file /etc/key',
  'secretName: creds',
  'token=null password=none',
  'tokens=512 max_tokens: 1024',
  '120 passed, 3 failed; passed: 120; bypass=on',
  'PWD=/app OLDPWD=/',
  'registry.example/app@sha256:0123456789',
  'https://registry.example:5000/@scope/name and mail to ann@example.com',
  'git@github.com:org/repo.git',
  'the registry refuses it: unauthorized, or there is no such repository',
  'exec: "no-such-program": executable file not found in $PATH',
  'http://10.0.0.1:8080/ready',
  'check the login (imagePullSecrets)',
  'key b is missing in ConfigMap default/half',
  'a basic test of bearer bonds',
  'basic authentication fails, bearer authentication too',
  'container app exited with code=1 & it is Tuesday',
]) {
  test(`leaves as it is: ${text}`, () => assert.equal(withoutCredentials(text), text));
}

test('a long text that looks like credentials all the way takes no time', () => {
  const startedAtMs = performance.now();
  const parts = [
    'pass',
    'secret"',
    '--token ',
    'a://b:',
    '//b@',
    'Bearer ',
    'key=',
    '?sig=//&',
    'token=,',
    'token: "\\',
    'cookie: ',
    '-token-',
  ];
  for (const part of [...parts, '-----BEGIN PRIVATE KEY-----']) withoutCredentials(part.repeat(20_000));
  assert.ok(performance.now() - startedAtMs < 10_000);
});

test('all texts in a value are looked through', () => {
  assert.equal(jsonWithoutCredentials({ a: ['token=hunter2', 1], b: { c: 'well' } }), '{"a":["token=[redacted]",1],"b":{"c":"well"}}');
});
