import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeUse } from '../../../src/model/node-use.ts';
import { forbiddenPrivilege, type HostPrivileges } from '../../../src/model/host-privileges.ts';
import { admitPod, type PodAdmission } from '../../../src/model/pod-admission.ts';
import { noEngineSupport } from '../../../src/model/unsupported-demand.ts';
import type { Pod, PodSpec } from '../../../src/model/pod.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const all: HostPrivileges = { allowPrivileged: true, hostNetworkSources: ['*'], hostPidSources: ['*'], hostIpcSources: ['*'] };
const from = (source: string, spec: Partial<PodSpec>): Pod => {
  const pod = aPod('p', spec);
  return { ...pod, metadata: { ...pod.metadata, annotations: { 'kubernetes.io/config.source': source } } };
};

test("the node's namespaces are for pods of the sources that may have them", () => {
  const rows = [
    ['hostNetwork', { hostNetworkSources: ['api'] }, 'specified host networking'],
    ['hostPID', { hostPidSources: ['api', 'http'] }, 'specified host PID'],
    ['hostIPC', { hostIpcSources: [] }, 'specified host ipc'],
  ] as const;
  for (const [field, over, words] of rows) {
    const rules = { ...all, ...over };
    assert.equal(forbiddenPrivilege(from('file', { [field]: true }), all), undefined);
    assert.match(
      forbiddenPrivilege(from('file', { [field]: true }), rules) ?? '',
      new RegExp(`${words}, but is disallowed \\(spec\\.${field}: pods of source file\\)$`),
    );
    assert.equal(forbiddenPrivilege(from('file', { [field]: false }), rules), undefined);
  }
  assert.equal(forbiddenPrivilege(from('api', { hostNetwork: true }), { ...all, hostNetworkSources: ['api'] }), undefined);
});

test('a privileged container, of whatever kind, is named where none may be', () => {
  const privileged = aContainer('boss', { securityContext: { privileged: true } });
  const rules = { ...all, allowPrivileged: false };
  for (const spec of [{ containers: [privileged] }, { initContainers: [privileged] }]) {
    assert.match(forbiddenPrivilege(from('api', spec), rules) ?? '', /\(container boss: securityContext\.privileged\)$/);
    assert.equal(forbiddenPrivilege(from('api', spec), all), undefined);
  }
  assert.equal(forbiddenPrivilege(aPod('p'), rules), undefined);
});

test('each refusal has its reason, and its message names the field', () => {
  const rules = {
    allowedUnsafeSysctls: [],
    privileges: { ...all, hostPidSources: ['file'] },
    appArmor: { fault: 'AppArmor is not enabled on the host', loadedProfiles: () => new Set<string>() },
    podLevelResources: false,
  };
  const reasonOf = (spec: Partial<PodSpec>, engine = noEngineSupport): string | undefined => {
    const admission: PodAdmission = { pod: aPod('p', spec), otherPods: new NodeUse(), node: { metadata: { name: 'n' } }, engine };
    const refusal = admitPod(admission, rules);
    return refusal && `${refusal.reason}: ${/\(?(spec\.[\w.[\]]+)/.exec(refusal.message)?.[1] ?? refusal.message}`;
  };
  assert.equal(reasonOf({}), undefined);
  const rows: readonly (readonly [Partial<PodSpec>, string])[] = [
    [{ securityContext: { sysctls: [{ name: 'vm.swappiness', value: '1' }] } }, 'SysctlForbidden: spec.securityContext.sysctls[0].name'],
    [{ resources: { limits: { cpu: '1' } } }, 'PodLevelResourcesNotSupported: PodLevelResources feature gate is disabled'],
    [{ nodeName: 'other' }, "NodeName: Predicate NodeName failed: node(s) didn't match the requested node name"],
    [{ hostPID: true }, 'Forbidden: spec.hostPID'],
    [{ hostUsers: false }, 'UserNamespacesNotSupported: spec.hostUsers'],
    [{ securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }, 'AppArmor: spec.securityContext.appArmorProfile'],
  ];
  for (const [spec, expected] of rows) assert.equal(reasonOf(spec), expected);
  const able = { supplementalGroupsPolicy: true, userNamespaces: true };
  assert.equal(reasonOf({ hostUsers: false }, able), undefined);
});
