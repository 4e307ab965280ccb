import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dockerCgroupParent, namedCgroupParent } from '../../../../../src/engines/docker/containers/create-body.ts';
import { sandboxCreateRequest } from '../../../../../src/engines/docker/sandbox/sandbox-create-request.ts';
import type { Pod, PodSpec } from '../../../../../src/model/pod.ts';
import { aPod } from '../../../../builders/a-pod.ts';

const hostConfigOf = (pod: Pod, handler?: string): Readonly<Record<string, unknown>> =>
  sandboxCreateRequest({
    pod,
    attempt: 0,
    image: 'pause',
    hostname: 'web',
    handler,
    network: 'docker',
    cgroupParent: '',
    extraSupplementalGroups: [11],
  }).body.HostConfig;

test('groups of volumes reach the sandbox with the security context, that defaulting gives to every pod', () => {
  const pod = aPod('p');
  const { securityContext: _, ...rest } = pod.spec;
  const groups = (securityContext: PodSpec['securityContext']): unknown =>
    hostConfigOf({ ...pod, spec: { ...rest, ...(securityContext && { securityContext }) } })['GroupAdd'];
  assert.deepEqual(groups({ supplementalGroups: [5] }), ['11', '5']);
  assert.deepEqual(groups(undefined), []);
});

test("a class's handler is the runtime of that name, but docker is the engine's default, as it was for dockershim", () => {
  const runtime = (handler?: string): unknown => hostConfigOf(aPod('p'), handler)['Runtime'];
  assert.deepEqual([runtime('kata'), runtime('docker'), runtime()], ['kata', undefined, undefined]);
});

test('under the systemd driver a cgroup parent is named by its last part, and the root is the root', () => {
  const cases = { '': '', '/': '/', '//': '/', '/a.slice/a-b.slice': 'a-b.slice', '/a.slice//': 'a.slice' };
  for (const [parent, expected] of Object.entries(cases)) {
    assert.equal(dockerCgroupParent(parent, 'systemd'), expected, parent);
    assert.equal(dockerCgroupParent(parent, 'cgroupfs'), parent);
  }
});

test('which driver named a cgroup is seen from its name; without one it is the engine’s to choose', () => {
  assert.equal(namedCgroupParent('/kubepods.slice/kubepods-podu.slice'), 'kubepods-podu.slice');
  assert.equal(namedCgroupParent('/kubepods/podu'), '/kubepods/podu');
  assert.equal(namedCgroupParent(undefined), '');
});
