import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../../../src/model/pod.ts';
import { dottedSysctl, forbiddenSysctl, sysctlPatternFault } from '../../../src/model/sysctls.ts';
import { aPod } from '../../builders/a-pod.ts';

const why = (names: readonly string[], allowed: readonly string[] = [], over: Partial<PodSpec> = {}): string | undefined =>
  forbiddenSysctl(aPod('p', { ...over, securityContext: { sysctls: names.map((name) => ({ name, value: '1' })) } }), allowed);

test('safe sysctls are had by everybody, others by who allows them; the first that is not is named', () => {
  assert.equal(why([]), undefined);
  assert.equal(why(['kernel.shm_rmid_forced', 'net.ipv4.tcp_syncookies', 'net.ipv4.ip_unprivileged_port_start']), undefined);
  assert.equal(
    why(['net.ipv4.tcp_syncookies', 'kernel.msgmax']),
    'forbidden sysctl: "kernel.msgmax" not whitelisted (spec.securityContext.sysctls[1].name)',
  );
  assert.equal(why(['kernel.msgmax'], ['kernel.msgmax']), undefined);
  assert.equal(why(['kernel.msgmax'], ['kernel.msg*']), undefined);
  assert.match(why(['kernel.msgmaxx'], ['kernel.msgmax']) ?? '', /not whitelisted/);
  assert.match(why(['vm.swappiness'], ['net.*']) ?? '', /not whitelisted/);
});

test("a sysctl of a namespace that is the node's is not the pod's to set", () => {
  const rows = [
    ['net.ipv4.tcp_syncookies', { hostNetwork: true }, 'not allowed with host net enabled'],
    ['kernel.shm_rmid_forced', { hostIPC: true }, 'not allowed with host ipc enabled'],
    ['fs.mqueue.msg_max', { hostIPC: true }, 'not allowed with host ipc enabled'],
    ['net.core.somaxconn', { hostNetwork: true }, 'not allowed with host net enabled'],
    ['net.core.somaxconn', { hostIPC: true }, undefined],
  ] as const;
  for (const [name, over, words] of rows) {
    const found = why([name], ['net.core.*', 'fs.mqueue.*'], over);
    if (words === undefined) assert.equal(found, undefined, name);
    else assert.ok(found?.includes(words), `${name}: ${found}`);
  }
});

test('both ways to write a sysctl are one', () => {
  assert.equal(dottedSysctl('net/ipv4/tcp_syncookies'), 'net.ipv4.tcp_syncookies');
  assert.equal(dottedSysctl('net/ipv4/conf/eth0.1/mtu'), 'net.ipv4.conf.eth0/1.mtu');
  assert.equal(dottedSysctl('net.ipv4.conf.eth0/1.mtu'), 'net.ipv4.conf.eth0/1.mtu');
  assert.equal(why(['net/ipv4/tcp_syncookies']), undefined);
});

test('what can be allowed is a sysctl, or a group of them, that pods have for themselves', () => {
  for (const pattern of ['net.core.somaxconn', 'net.*', 'kernel.shm*', 'kernel.sem', 'fs.mqueue.*', 'kernel.msgmax']) {
    assert.equal(sysctlPatternFault(pattern), undefined, pattern);
  }
  assert.match(sysctlPatternFault('vm.swappiness') ?? '', /^the sysctl "vm\.swappiness" are not known to be namespaced$/);
  assert.match(sysctlPatternFault('vm.*') ?? '', /^the sysctls "vm\.\*" are not known to be namespaced$/);
  assert.match(sysctlPatternFault('kernel.sem*') ?? 'none', /none/);
  for (const pattern of ['', '*.a', 'net.*.b', 'NET.core', `net.${'a'.repeat(253)}`]) {
    assert.match(sysctlPatternFault(pattern) ?? '', /must have at most 253 characters and match regex/, pattern);
  }
});
