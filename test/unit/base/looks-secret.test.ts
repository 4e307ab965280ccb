import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { looksSecret } from '../../../src/base/looks-secret.ts';

describe('keys that look secret:', () => {
  for (const key of [
    'authorization',
    'X-Registry-Auth',
    'serviceAccountToken',
    'PASSWORD',
    'PASSWORD1',
    'PGPASSWORD',
    'requirepass',
    'db_password',
    'privateKey',
    'AWS_SECRET_ACCESS_KEY',
    'api-key',
    'apikey',
    'clientsecret',
    '.dockerconfigjson',
    'Set-Cookie',
  ]) {
    test(key, () => assert(looksSecret(key)));
  }
});

describe('keys that do not:', () => {
  for (const key of ['author', 'pod', 'key', 'tokenizer', 'image', 'authority', 'bypass', 'passed', 'compass']) {
    test(key, () => assert(!looksSecret(key)));
  }
});
