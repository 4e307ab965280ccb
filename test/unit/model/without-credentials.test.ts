import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutCredentials } from '../../../src/model/without-credentials.ts';

for (const text of [
  'Get "https://robot:hunter2@registry.example/v2/": EOF',
  'postgres://u:hunter2/@x@db:5432/x',
  'https://hunter2@git.example/x',
  'Authorization: Bearer hunter2.hunter2',
  'authorization: basic aHVudGVyMg==hunter2',
  '--password=hunter2',
  '--db-password hunter2',
  'DB_PASSWORD=hunter2 psql',
  "requirepass: 'hunter2 hunter2'",
  '{"password": "hunter2, and more hunter2", "a": 1}',
  String.raw`{\"client_secret\":\"hunter2\"}`,
  'token=hunter2&x=1',
  'api-key: hunter2',
  'AWS_SECRET_ACCESS_KEY=hunter2',
  'passphrase=hunter2',
]) {
  test(`leaves out the password of ${text}`, () => assert.doesNotMatch(withoutCredentials(text), /hunter2/));
}

for (const text of [
  'Secret default/not-there is not found',
  'registry.example/app@sha256:0123456789',
  'the registry refuses it: unauthorized, or there is no such repository',
  'exec: "no-such-program": executable file not found in $PATH',
  'http://10.0.0.1:8080/ready',
  'check the login (imagePullSecrets)',
  'key b is missing in ConfigMap default/half',
  'a basic test of bearer bonds',
]) {
  test(`leaves as it is: ${text}`, () => assert.equal(withoutCredentials(text), text));
}

test('a long text that looks like credentials all the way takes no time', () => {
  const startedAtMs = performance.now();
  for (const part of ['pass', 'secret"', '--token ', 'a://b:', 'Bearer ', 'key=']) withoutCredentials(part.repeat(20_000));
  assert.ok(performance.now() - startedAtMs < 5_000);
});
