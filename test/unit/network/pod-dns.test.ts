import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podDns } from '../../../src/network/pod-dns.ts';
import { aPod } from '../../builders/a-pod.ts';

const settings = { clusterDns: ['10.96.0.10'], clusterDomain: 'cluster.local', usesNodeFile: true, nodeIps: [] };

test('what does not fit is left out, and what is left is told', () => {
  const node = { servers: ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4'], searches: ['a'.repeat(200), 'b'.repeat(60)], options: [] };
  const { dns, warnings } = podDns(aPod('web', { dnsPolicy: 'Default' }), settings, node);
  assert.deepEqual(dns, { servers: ['1.1.1.1', '2.2.2.2', '3.3.3.3'], searches: ['a'.repeat(200)], options: [] });
  assert.deepEqual(
    warnings.map(({ reason, message }) => `${reason} ${message}`),
    [
      'DNSConfigForming Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 1.1.1.1 2.2.2.2 3.3.3.3',
      `DNSConfigForming Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${'a'.repeat(200)}`,
    ],
  );
});

test('an option of the pod wins over the same one of the node', () => {
  const dnsConfig = { options: [{ name: 'ndots', value: '1' }, { name: 'edns0' }] };
  const node = { servers: [], searches: [], options: ['ndots:5', 'rotate'] };
  const { dns } = podDns(aPod('web', { dnsPolicy: 'Default', dnsConfig }), settings, node);
  assert.deepEqual(dns.options, ['ndots:1', 'rotate', 'edns0']);
});

test('a pod that wants the name servers of a cluster has those of the node where there are none, and both are told', () => {
  const { dns, warnings } = podDns(aPod('we"b'), { ...settings, clusterDns: [] }, { servers: ['1.1.1.1'], searches: [], options: [] });
  assert.deepEqual(dns, { servers: ['1.1.1.1'], searches: [], options: [] });
  const why =
    'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';
  assert.deepEqual(warnings, [
    { about: 'node', reason: 'MissingClusterDNS', message: why },
    { about: 'pod', reason: 'MissingClusterDNS', message: `pod: "we\\"b_default(uid-we\\"b)". ${why}` },
  ]);
});
