import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, test } from 'node:test';
import {
  credentialHash,
  credentialsOf,
  matchOf,
  merged,
  type PullCredentials,
  type SourceReference,
  type TrackedCredentials,
} from '../../../../src/images/verification/pull-credentials.ts';

const reference = (name: string, over: Partial<SourceReference> = {}): SourceReference => ({
  uid: `uid-${name}`,
  namespace: 'shop',
  name,
  ...over,
});
const ofSecret = (name: string, password = 'pw', over: Partial<SourceReference> = {}): TrackedCredentials => ({
  username: 'me',
  password,
  source: { secret: reference(name, over) },
});
const ofAccount = (name: string): TrackedCredentials => ({
  username: 'me',
  password: 'token',
  source: { serviceAccount: reference(name) },
});
const ofNode: TrackedCredentials = { username: 'node', password: 'pw' };
const everybody: PullCredentials = { secrets: [], serviceAccounts: [], nodePodsAccessible: true };
const nothing: PullCredentials = { ...everybody, nodePodsAccessible: false };
const known = (...used: readonly TrackedCredentials[]): PullCredentials => {
  let all = nothing;
  for (const one of used) all = merged(all, credentialsOf(one)) ?? all;
  return all;
};

test('credentials are hashed as Go writes them: e-mail after the password, nothing that is empty, HTML characters escaped', () => {
  const sha256 = (text: string): string => hash('sha256', text);
  assert.equal(credentialHash({ username: 'u', password: 'p' }), sha256('{"username":"u","password":"p"}'));
  assert.equal(
    credentialHash({ username: 'u', password: 'a<b&c', email: 'u@x' }),
    sha256('{"username":"u","password":"a\\u003cb\\u0026c","email":"u@x"}'),
  );
  assert.equal(credentialHash({ username: '', password: 'p' }), sha256('{"password":"p"}'));
  assert.equal(credentialHash({ username: '', password: '' }), sha256('{}'));
  // Where they are from makes no other credentials of them.
  assert.equal(credentialHash(ofSecret('a')), credentialHash(ofSecret('b')));
});

test('a pull without credentials, or with those of the node, leaves the image to every pod', () => {
  assert.deepEqual(credentialsOf(undefined), everybody);
  assert.deepEqual(credentialsOf(ofNode), everybody);
});

test('a pull with a Secret or for a service account is known by its reference, and no password is kept', () => {
  const secret = credentialsOf(ofSecret('a', 'very-secret'));
  assert.deepEqual(secret, { ...nothing, secrets: [{ ...reference('a'), credentialHash: credentialHash(ofSecret('a', 'very-secret')) }] });
  assert.ok(!JSON.stringify([secret, credentialsOf(ofAccount('b'))]).match(/very-secret|token/));
  assert.deepEqual(credentialsOf(ofAccount('b')), { ...nothing, serviceAccounts: [reference('b')] });
});

describe('what is proved is added to what is known', () => {
  test('once: a repeated proof is nothing new, and neither is any where every pod may', () => {
    const all = known(ofSecret('a'), ofAccount('b'));
    assert.equal(merged(all, credentialsOf(ofSecret('a'))), undefined);
    assert.equal(merged(all, credentialsOf(ofAccount('b'))), undefined);
    assert.equal(merged(everybody, credentialsOf(ofSecret('a'))), undefined);
    assert.equal(merged(nothing, nothing), undefined);
  });

  test('every pod may as soon as one pull went without credentials', () => {
    assert.deepEqual(merged(known(ofSecret('a')), everybody), everybody);
  });

  test('a Secret that holds something else by now has its newer hash', () => {
    const { secrets } = known(ofSecret('a', 'old'), ofSecret('b'), ofSecret('a', 'new'));
    assert.deepEqual(
      secrets.map(({ name }) => name),
      ['b', 'a'],
    );
    assert.equal(secrets[1]?.credentialHash, credentialHash(ofSecret('a', 'new')));
  });

  test('of 100 Secrets and service accounts the oldest gives way', () => {
    const many = Array.from({ length: 101 }, (_, i) => String(i));
    const { secrets, serviceAccounts } = known(...many.map((name) => ofSecret(name, name)), ...many.map(ofAccount));
    for (const list of [secrets, serviceAccounts]) {
      assert.equal(list.length, 100);
      assert.deepEqual([list[0]?.name, list.at(-1)?.name], ['1', '100']);
    }
  });
});

describe('a pod may use the image', () => {
  test('with the same credentials from another Secret, which is learnt', () => {
    const { mayUse, learnt } = matchOf(known(ofSecret('a')), [ofNode, ofSecret('b', 'other'), ofSecret('c')]);
    assert.equal(mayUse, true);
    assert.deepEqual(learnt, { ...reference('c'), credentialHash: credentialHash(ofSecret('a')) });
  });

  test('with the same Secret, whatever it holds by now, which is learnt', () => {
    const { mayUse, learnt } = matchOf(known(ofSecret('a', 'old')), [ofSecret('a', 'new')]);
    assert.equal(mayUse, true);
    assert.equal(learnt?.credentialHash, credentialHash(ofSecret('a', 'new')));
  });

  test('with what is known already, of which nothing is to be learnt', () => {
    assert.deepEqual(matchOf(known(ofSecret('a'), ofSecret('b')), [ofSecret('b')]), { mayUse: true });
    assert.deepEqual(matchOf(everybody, []), { mayUse: true });
    assert.deepEqual(matchOf(known(ofAccount('b')), [ofAccount('b')]), { mayUse: true });
  });

  for (const [what, credentials] of [
    ['nothing', []],
    ["the node's credentials", [ofNode]],
    ['another Secret', [ofSecret('b', 'other')]],
    ['a Secret of that name in another namespace', [ofSecret('a', 'other', { namespace: 'theirs' })]],
    ['a Secret of that name that was made again', [ofSecret('a', 'other', { uid: 'uid-2' })]],
    ['a service account of the name', [ofAccount('a')]],
  ] as const)
    test(`and may not with ${what}`, () => assert.deepEqual(matchOf(known(ofSecret('a')), credentials), { mayUse: false }));

  test('a pod has one service account: the first that its credentials are for', () => {
    assert.deepEqual(matchOf(known(ofAccount('b')), [ofAccount('a'), ofAccount('b')]), { mayUse: false });
  });

  test('nobody by a hash that is missing, nor by a Secret without a name', () => {
    const empty = { ...reference('a'), credentialHash: '' };
    assert.equal(matchOf({ ...nothing, secrets: [empty] }, [ofSecret('b', '')]).mayUse, false);
    const nameless = { uid: '', namespace: '', name: '', credentialHash: 'x' };
    assert.equal(matchOf({ ...nothing, secrets: [nameless] }, [ofSecret('', 'x', { uid: '', namespace: '' })]).mayUse, false);
  });

  test('where 100 Secrets are known nothing more is learnt: only the same credentials count then', () => {
    const full = known(...Array.from({ length: 100 }, (_, i) => ofSecret(String(i), `pw${i}`)));
    assert.deepEqual(matchOf(full, [ofSecret('new', 'pw7')]), { mayUse: true });
    assert.deepEqual(matchOf(full, [ofSecret('7', 'changed')]), { mayUse: false });
  });
});
