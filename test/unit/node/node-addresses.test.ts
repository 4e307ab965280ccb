import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeIpFault, parseIp, parseNodeIps } from '../../../src/node/ip-address.ts';
import { nodeAddresses, providedNodeIpAnnotation, withProvidedNodeIp } from '../../../src/node/node-addresses.ts';

const host = ['127.0.0.1', '10.0.0.1', '10.0.0.2', 'fd00::1', 'fe80::1'];

const addressOf = (nodeIp: string, byName: readonly string[], byDefaultRoute: readonly string[], hostname = 'n1'): string | undefined => {
  const facts = { nodeName: 'n1', nodeIps: parseNodeIps(nodeIp), hostname, externalCloudProvider: false, byName, byDefaultRoute };
  const { addresses, error } = nodeAddresses([], { ...facts, fault: (ip) => nodeIpFault(ip, host) });
  return addresses?.[0]?.address ?? error;
};

for (const [what, actual, expected] of [
  ['--node-ip', addressOf('10.0.0.2', ['10.0.0.1'], ['10.0.0.1']), '10.0.0.2'],
  ['a host name that is an address', addressOf('', ['10.0.0.2'], ['10.0.0.1'], '10.9.9.9'), '10.9.9.9'],
  ['what the name resolves to', addressOf('', ['10.0.0.2'], ['10.0.0.1']), '10.0.0.2'],
  ['IPv4 before IPv6', addressOf('', ['fd00::1', '10.0.0.2'], []), '10.0.0.2'],
  ['IPv6 first when asked for', addressOf('::', ['10.0.0.2', 'fd00::1'], []), 'fd00::1'],
  ['IPv4 when asked for', addressOf('0.0.0.0', ['fd00::1', '10.0.0.2'], []), '10.0.0.2'],
  ['a loopback or foreign name is passed over', addressOf('', ['127.0.1.1', '10.7.7.7'], ['10.0.0.1']), '10.0.0.1'],
  ['the default route', addressOf('', [], ['10.0.0.1', 'fd00::1']), '10.0.0.1'],
  ['the default route of the family asked for', addressOf('::', [], ['10.0.0.1', 'fd00::1']), 'fd00::1'],
  [
    'nothing',
    addressOf('', [], []),
    "can't get ip address of node n1. error: its name resolves to no address of this host and no default route leads to one; give --node-ip",
  ],
] as const)
  test(`a node's address: ${what}`, () => assert.equal(actual, expected));

for (const [text, expected] of [
  ['10.0.0.1', '10.0.0.1'],
  ['FD00:0::1', 'fd00::1'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['fe80::1%eth0', undefined],
  ['10.0.0', undefined],
  ['', undefined],
] as const)
  test(`"${text}" is the address ${expected}`, () => assert.equal(parseIp(text)?.text, expected));

for (const [text, fault] of [
  ['10.0.0.1', undefined],
  ['fd00::1', undefined],
  ['127.0.0.1', "nodeIP can't be loopback address"],
  ['::1', "nodeIP can't be loopback address"],
  ['224.0.0.1', "nodeIP can't be a multicast address"],
  ['ff02::1', "nodeIP can't be a multicast address"],
  ['169.254.0.1', "nodeIP can't be a link-local unicast address"],
  ['fe80::1', "nodeIP can't be a link-local unicast address"],
  ['0.0.0.0', "nodeIP can't be an all zeros address"],
  ['10.7.7.7', 'node IP: "10.7.7.7" not found in the host\'s network interfaces'],
] as const)
  test(`as a node IP, ${text} has the fault ${fault}`, () => {
    const ip = parseIp(text);
    assert.ok(ip);
    assert.equal(nodeIpFault(ip, host), fault);
  });

for (const text of ['x', '10.0.0.1,10.0.0.2', '10.0.0.1,fd00::1,fd00::2', '10.0.0.1,', '0.0.0.0,::'])
  test(`--node-ip ${text} is refused`, () => {
    assert.throws(() => parseNodeIps(text), {
      message: `bad --node-ip "${text}"; must contain either a single IP or a dual-stack pair of IPs`,
    });
  });
test('--node-ip takes one address, or two families', () => {
  assert.deepEqual(
    parseNodeIps('fd00::1, 10.0.0.1').map(({ text }) => text),
    ['fd00::1', '10.0.0.1'],
  );
  assert.deepEqual(parseNodeIps(''), []);
});

test('with an external cloud provider and without --node-ip the provider finds the addresses', () => {
  const facts = { nodeName: 'n', nodeIps: [], hostname: 'h', externalCloudProvider: true, byName: [], byDefaultRoute: ['10.0.0.1'] };
  assert.deepEqual(nodeAddresses([], { ...facts, fault: () => undefined }), { addresses: [{ type: 'Hostname', address: 'h' }] });
});

test('what is told of --node-ip to a cloud provider goes when it no longer holds, but not while --node-ip is wrong', () => {
  const annotations = { a: 'b', [providedNodeIpAnnotation]: '10.0.0.1' };
  assert.deepEqual(withProvidedNodeIp(annotations, {}), { a: 'b' });
  assert.deepEqual(withProvidedNodeIp(annotations, { error: 'wrong', invalid: true }), annotations);
  assert.deepEqual(withProvidedNodeIp(undefined, { providedNodeIp: '10.0.0.1,fd00::1' }), {
    [providedNodeIpAnnotation]: '10.0.0.1,fd00::1',
  });
});
