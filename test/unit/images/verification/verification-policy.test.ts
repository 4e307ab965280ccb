import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verificationOf } from '../../../../src/images/verification/verification-policy.ts';

const allowlist = ['docker.io/library/busybox', 'a.example/*', 'b.example/team/*'];
const cases = [
  ['NeverVerify', 'c.example/app', 'never'],
  ['NeverVerifyPreloadedImages', 'c.example/app', 'unless preloaded'],
  ['AlwaysVerify', 'busybox', 'always'],
  ['', 'busybox', 'always'],
  ['NeverVerifyAllowlistedImages', 'busybox', 'never'],
  ['NeverVerifyAllowlistedImages', 'busybox:1.35', 'never'],
  ['NeverVerifyAllowlistedImages', `docker.io/busybox@sha256:${'0'.repeat(64)}`, 'never'],
  ['NeverVerifyAllowlistedImages', 'busybox/busybox', 'always'],
  ['NeverVerifyAllowlistedImages', 'busybox2', 'always'],
  ['NeverVerifyAllowlistedImages', 'a.example/any/where:1', 'never'],
  ['NeverVerifyAllowlistedImages', 'a.example.org/any', 'always'],
  ['NeverVerifyAllowlistedImages', 'a.example:5000/any', 'always'],
  ['NeverVerifyAllowlistedImages', 'b.example/team/app', 'never'],
  ['NeverVerifyAllowlistedImages', 'b.example/team2/app', 'always'],
] as const;
for (const [policy, image, verification] of cases)
  test(`${policy || 'no policy'} verifies ${image} ${verification}`, () =>
    assert.equal(verificationOf({ policy, allowlist }, image), verification));

test('an empty list leaves no image out', () => {
  assert.equal(verificationOf({ policy: 'NeverVerifyAllowlistedImages', allowlist: [] }, 'busybox'), 'always');
});
