import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PullCredentials } from '../../../../src/images/verification/pull-credentials.ts';
import {
  formatIntent,
  formatRecord,
  LARGEST_RECORD,
  parseIntent,
  parseRecord,
  type PulledRecord,
  withProof,
} from '../../../../src/images/verification/pulled-record.ts';

const nowMs = Date.parse('2024-10-21T12:26:40Z');
const everybody: PullCredentials = { secrets: [], serviceAccounts: [], nodePodsAccessible: true };
const bySecret = (name: string, credentialHash = 'hash'): PullCredentials => ({
  secrets: [{ uid: `uid-${name}`, namespace: 'shop', name, credentialHash }],
  serviceAccounts: [],
  nodePodsAccessible: false,
});
/** As a kubelet of 1.36 writes it. */
const aRecord =
  '{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1","lastUpdatedTime":"2024-10-21T12:26:40Z","imageRef":"sha256:1",' +
  '"credentialMapping":{"a.example/app":{"kubernetesSecrets":[{"uid":"uid-s","namespace":"shop","name":"s","credentialHash":"hash"}],' +
  '"kubernetesServiceAccounts":[{"uid":"u","namespace":"n","name":"a"}]},"docker.io/library/busybox":{"nodePodsAccessible":true}}}';

describe('a record', () => {
  test('is what a kubelet writes, byte for byte', () => {
    const app = { ...bySecret('s'), serviceAccounts: [{ uid: 'u', namespace: 'n', name: 'a' }] };
    const names = new Map([
      ['a.example/app', app],
      ['docker.io/library/busybox', everybody],
    ]);
    assert.equal(formatRecord({ imageRef: 'sha256:1', names }, nowMs), aRecord);
    assert.deepEqual(parseRecord(aRecord), { imageRef: 'sha256:1', names });
    const empty =
      '{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1","lastUpdatedTime":"2024-10-21T12:26:40Z","imageRef":"x"}';
    assert.equal(formatRecord({ imageRef: 'x', names: new Map() }, nowMs), empty);
    assert.deepEqual(parseRecord(empty), { imageRef: 'x', names: new Map() });
  });

  test('of an older kubelet, or of one that writes more, is read, too', () => {
    assert.deepEqual(parseRecord(aRecord.replace('v1beta1', 'v1alpha1')), parseRecord(aRecord));
    assert.deepEqual(parseRecord(aRecord.replace('"imageRef"', '"new":1,"imageRef"')), parseRecord(aRecord));
  });

  for (const [what, text] of [
    ['empty', ''],
    ['no JSON', '{'],
    ['a list', '[]'],
    ['an intent', formatIntent('x')],
    ['of another version', aRecord.replace('v1beta1', 'v7')],
    ['without an image', aRecord.replace('"imageRef":"sha256:1"', '"imageRef":7')],
    ['of names that are none', aRecord.replace(/"credentialMapping":.*/, '"credentialMapping":[]}')],
    ['of credentials that are none', aRecord.replace('{"nodePodsAccessible":true}', 'true')],
    ['of a word for true', aRecord.replace('"nodePodsAccessible":true', '"nodePodsAccessible":"true"')],
    ['of Secrets that are none', aRecord.replace('"kubernetesSecrets":[', '"kubernetesSecrets":[1,')],
    ['of a Secret without a hash', aRecord.replace(',"credentialHash":"hash"', '')],
    ['of a service account without a name', aRecord.replace(',"name":"a"', '')],
  ] as const)
    test(`that is ${what} is refused, and nothing of it is quoted`, () => {
      assert.throws(
        () => parseRecord(text),
        (error: Error) => !error.message.includes('hash"') && error.message.length < 200,
      );
    });

  test('keeps other names of its image, is unchanged by what it says already, and says without a proof that it was pulled', () => {
    const first = withProof(undefined, 'sha256:1', 'a.example/app', bySecret('s'));
    assert.deepEqual(first, { imageRef: 'sha256:1', names: new Map([['a.example/app', bySecret('s')]]) });
    assert.equal(withProof(first, 'sha256:1', 'a.example/app', bySecret('s')), undefined);
    assert.equal(withProof(first, 'sha256:1', 'a.example/app', undefined), undefined);
    assert.deepEqual(
      [...(withProof(first, 'sha256:1', 'b.example/app', everybody)?.names.keys() ?? [])],
      ['a.example/app', 'b.example/app'],
    );
    assert.deepEqual(withProof(undefined, 'sha256:1', 'a.example/app', undefined), { imageRef: 'sha256:1', names: new Map() });
  });

  test('has 100 names at most: the oldest gives way', () => {
    let record: PulledRecord | undefined;
    for (let i = 0; i <= 100; i++) record = withProof(record, 'sha256:1', `r.example/${i}`, everybody);
    const names = [...(record?.names.keys() ?? [])];
    assert.equal(names.length, 100);
    assert.deepEqual([names[0], names.at(-1)], ['r.example/1', 'r.example/100']);
  });

  test('is never larger than what is read: the oldest names give way', () => {
    const long = 'n'.repeat(253);
    const names = new Map(
      Array.from({ length: 100 }, (_, i) => [
        `r.example/${i}`,
        {
          ...everybody,
          secrets: Array.from({ length: 100 }, () => ({ uid: long, namespace: long, name: long, credentialHash: 'h'.repeat(64) })),
        },
      ]),
    );
    const text = formatRecord({ imageRef: 'sha256:1', names }, nowMs);
    const left = [...parseRecord(text).names.keys()];
    assert.ok(Buffer.byteLength(text) <= LARGEST_RECORD && Buffer.byteLength(text) > LARGEST_RECORD * 0.9);
    assert.equal(left.at(-1), 'r.example/99');
    assert.ok(left.length < 100);
  });

  test('whatever a name is called, it is a name', () => {
    const record = withProof(undefined, '__proto__', '__proto__', everybody);
    assert.ok(record);
    const text = formatRecord(record, nowMs);
    assert.deepEqual(parseRecord(text), record);
  });
});

test('an intent is what a kubelet writes, and one of an older kubelet is read', () => {
  const intent = '{"kind":"ImagePullIntent","apiVersion":"kubelet.config.k8s.io/v1beta1","image":"repo.repo/test/test:v1"}';
  assert.equal(formatIntent('repo.repo/test/test:v1'), intent);
  assert.equal(parseIntent(intent.replace('v1beta1', 'v1alpha1')), 'repo.repo/test/test:v1');
  for (const wrong of ['', '{}', aRecord, intent.replace('"image"', '"picture"')]) assert.throws(() => parseIntent(wrong));
});
