import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { contextOption, fileContext, mountContext } from '../../../src/csi/selinux-context.ts';
import { volumePlan } from '../../../src/csi/volume-plan.ts';
import type { PodSpec } from '../../../src/model/pod.ts';
import type { PersistentVolume } from '../../../src/ports/claim-reader.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { aRootDirectory } from '../../builders/a-root-directory.ts';
import { CSI } from '../../builders/csi-node.ts';

const byDefault = 'system_u:object_r:container_file_t:s0';
const level = { seLinuxOptions: { level: 's0:c10,c20' } };
const user = (name: string, securityContext = {}) =>
  aContainer(name, { volumeMounts: [{ name: 'data', mountPath: '/data' }], securityContext });

interface Setting {
  readonly spec?: Partial<PodSpec>;
  readonly volume?: PersistentVolume['spec'];
  readonly driver?: object;
  readonly context?: string | undefined;
}

function contextOf({ spec = {}, volume = {}, driver = { seLinuxMount: true }, context = byDefault }: Setting): string | undefined {
  const pod = aPod('web', { containers: [user('app')], securityContext: level, ...spec });
  const persistent = {
    metadata: { name: 'pv' },
    spec: { accessModes: ['ReadWriteOncePod'], csi: { driver: CSI, volumeHandle: 'h' }, ...volume },
  };
  const task = { pod, name: 'pv', volume: 'data', source: { persistent, claim: {} }, readOnly: false, giveToGroup: async () => {} };
  const object = { metadata: { name: CSI }, spec: driver };
  return mountContext(volumePlan(task), pod, 'data', object, context);
}

test('a volume for one pod is mounted with the level of its containers and the type that the policy has for files', () => {
  assert.equal(contextOf({}), 'system_u:object_r:container_file_t:s0:c10,c20');
  assert.equal(contextOption(contextOf({}) ?? ''), 'context="system_u:object_r:container_file_t:s0:c10,c20"');
  const own = { seLinuxOptions: { level: 's0:c1', user: 'staff_u', type: 'spc_t', role: 'r' } };
  assert.equal(contextOf({ spec: { containers: [user('app', own)] } }), 'staff_u:object_r:container_file_t:s0:c1');
  // What does not use it has no say.
  const bystander = aContainer('side', { securityContext: own });
  assert.equal(contextOf({ spec: { containers: [user('app'), bystander] } }), 'system_u:object_r:container_file_t:s0:c10,c20');
});

for (const [what, setting] of [
  ['a machine without SELinux, or without defaults', { context: '' }],
  ['a driver that cannot', { driver: {} }],
  ['a volume that several pods may have', { volume: { accessModes: ['ReadWriteOnce'] } }],
  ['a volume of which it is not known what the pod wants', { volume: { accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] } }],
  ['a device', { volume: { volumeMode: 'Block' } }],
  ['a pod that wants its files labelled one by one', { spec: { securityContext: { ...level, seLinuxChangePolicy: 'Recursive' } } }],
  ['a pod without a level', { spec: { securityContext: { seLinuxOptions: { type: 'container_t' } } } }],
  ['containers of which one has none', { spec: { securityContext: {}, containers: [user('one', level), user('two')] } }],
  ['containers of several levels', { spec: { containers: [user('one'), user('two', { seLinuxOptions: { level: 's0' } })] } }],
  ['a level that would be another option', { spec: { securityContext: { seLinuxOptions: { level: 's0",exec,context="s0' } } } }],
  ['a user of several lines', { spec: { securityContext: { seLinuxOptions: { level: 's0', user: 'a\nb' } } } }],
] as const)
  test(`${what}: the volume is mounted without a context`, () => assert.equal(contextOf(setting), undefined));

test("the machine's policy says how files are labelled by default", async (t) => {
  const directory = await aRootDirectory(t);
  assert.equal(await fileContext(directory), undefined);
  await writeFile(join(directory, 'config'), '# SELINUXTYPE=no\nSELINUX=enforcing\nSELINUXTYPE=targeted \n');
  assert.equal(await fileContext(directory), undefined);
  await mkdir(join(directory, 'targeted/contexts'), { recursive: true });
  const lines = [
    'process = "system_u:system_r:container_t:s0"',
    `file = "${byDefault}"`,
    'ro_file="system_u:object_r:container_ro_file_t:s0"',
  ];
  await writeFile(join(directory, 'targeted/contexts/lxc_contexts'), lines.join('\n'));
  assert.equal(await fileContext(directory), byDefault);
  await writeFile(join(directory, 'config'), 'SELINUXTYPE=../../tmp\n');
  assert.equal(await fileContext(directory), undefined);
});
