import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podHostname, sandboxHostname } from '../../../src/network/pod-hostname.ts';
import { aPod } from '../../builders/a-pod.ts';

describe('a pod is known to itself', () => {
  for (const [how, pod, hostname, domain] of [
    ['by its name', aPod('web'), 'web', ''],
    ['by its hostname', aPod('web', { hostname: 'www' }), 'www', ''],
    ['below its subdomain', aPod('web', { subdomain: 'front' }), 'web', 'front.default.svc.cluster.local'],
    [
      'by its hostnameOverride, whatever else is said',
      aPod('web', { hostname: 'www', subdomain: 'front', hostnameOverride: 'a.b' }),
      'a.b',
      '',
    ],
    ['by what fits of a long hostnameOverride', aPod('web', { hostnameOverride: `${'a'.repeat(62)}.b` }), 'a'.repeat(62), ''],
    ['by what fits of a long name', aPod(`${'a'.repeat(62)}.b`), 'a'.repeat(62), ''],
  ] as const) {
    test(how, () => assert.deepEqual(podHostname(pod, 'cluster.local'), { hostname, domain }));
  }

  test('but not by what is no DNS label', () => {
    assert.throws(
      () => podHostname(aPod('web', { hostname: 'a_b' }), ''),
      /^Error: pod Hostname "a_b" is not a valid DNS label: a lowercase RFC 1123 label must/,
    );
    assert.throws(() => podHostname(aPod('web', { subdomain: 'a.b' }), ''), /^Error: pod Subdomain "a.b" is not a valid DNS label: /);
    assert.throws(
      () => podHostname(aPod('web', { hostnameOverride: 'A.b' }), ''),
      /^Error: pod HostnameOverride "A.b" is not a valid DNS subdomain: a lowercase RFC 1123 subdomain must/,
    );
    assert.throws(() => podHostname(aPod('-'.repeat(64)), ''), /^Error: hostname for pod "-+" was invalid: "-+"$/);
  });
});

describe('what `hostname` prints inside', () => {
  for (const [what, pod, expected] of [
    ['is the short name', aPod('web', { subdomain: 'front' }), 'web'],
    [
      'is the full name where the pod says so',
      aPod('web', { subdomain: 'front', setHostnameAsFQDN: true }),
      'web.front.default.svc.cluster.local',
    ],
    ['is the short name where there is no domain', aPod('web', { setHostnameAsFQDN: true }), 'web'],
    ['is the hostnameOverride', aPod('web', { subdomain: 'front', hostnameOverride: 'db.example.org' }), 'db.example.org'],
    ['is the node’s on the node’s network', aPod('web', { hostNetwork: true }), undefined],
  ] as const) {
    test(what, () => assert.equal(sandboxHostname(pod, 'cluster.local'), expected));
  }

  test('is not too long for the kernel, which counts bytes', () => {
    const umlauts = aPod('web', { subdomain: 'front', setHostnameAsFQDN: true });
    assert.throws(
      () => sandboxHostname(umlauts, `${'ü'.repeat(21)}x`),
      /is too long \(64 characters is the max, 65 characters requested\)/,
    );
    assert.equal(sandboxHostname(umlauts, 'ü'.repeat(21)), `web.front.default.svc.${'ü'.repeat(21)}`);
    const pod = aPod('w'.repeat(40), { subdomain: 'front', setHostnameAsFQDN: true });
    assert.throws(() => sandboxHostname(pod, 'cluster.local'), /is too long \(64 characters is the max, 72 characters requested\)/);
  });
});
