import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pemBlocks, toPem } from '../../../../src/cluster/certificates/pem.ts';

for (const length of [0, 1, 47, 48, 49, 96, 1000]) {
  test(`${length} bytes survive, in lines of 64 characters`, () => {
    const bytes = Buffer.alloc(length, 7);
    const pem = toPem('TEST', bytes);
    const lines = pem.split('\n').slice(1, -2);
    assert.ok(lines.slice(0, -1).every((line) => line.length === 64) && (lines.at(-1) ?? '').length <= 64);
    assert.deepEqual(Buffer.from(lines.join(''), 'base64'), bytes);
  });
}

test('blocks are found among other text, with Windows line ends and with headers', () => {
  const text = `a comment\n${toPem('CERTIFICATE', Buffer.from('one'))}--- more -----\r\n${toPem('EC PRIVATE KEY', Buffer.from('two')).replaceAll('\n', '\r\n')}`;
  assert.deepEqual(
    pemBlocks(
      `${text}-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----`,
    ).map(({ label }) => label),
    ['CERTIFICATE', 'EC PRIVATE KEY', 'RSA PRIVATE KEY'],
  );
});

test('a block without an end takes the next one not with it', () => {
  const whole = toPem('CERTIFICATE', Buffer.from('one'));
  assert.deepEqual(pemBlocks(`-----BEGIN CERTIFICATE-----\nAAAA\n${whole}`), [{ label: 'CERTIFICATE', pem: whole }]);
});
