import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupFault, cgroupsInShort, readCgroupHierarchy } from '../../../src/base/cgroup-hierarchy.ts';
import { aMachine } from '../../builders/a-machine.ts';

const v1 = { 'cpu,cpuacct/tasks': '', 'memory/tasks': '', 'pids/tasks': '', 'blkio/tasks': '' };

for (const [name, files, short, fault] of [
  ['version 2 alone', { 'cgroup.controllers': 'cpuset cpu io memory pids\n' }, 'v2', undefined],
  ['version 2 without memory', { 'cgroup.controllers': 'cpu io pids\n' }, 'v2', /\(v2\) in \S+ have no memory: .*cgroup_enable=memory/],
  ['version 1', v1, 'v1', undefined],
  ['version 1 with an empty version 2 beside it, as systemd calls hybrid', { ...v1, 'unified/cgroup.controllers': '\n' }, 'v1', undefined],
  ['one more controller in version 2', { ...v1, 'unified/cgroup.controllers': 'hugetlb\n' }, 'v1 and v2 (hugetlb)', undefined],
  [
    'memory in version 2 and the rest in version 1',
    { 'cpuacct/tasks': '', 'pids/tasks': '', 'blkio/tasks': '', 'unified/cgroup.controllers': 'memory\n' },
    'v1 and v2 (memory)',
    /mixed: memory of cgroup v2, the rest of v1; what pods use of memory is not reported\. Boot with/,
  ],
  ['nothing', { README: '' }, 'none', /there are no control groups in \S+: .*Mount cgroup v2 there/],
] as const)
  test(`${name} is ${short}`, async (t) => {
    const machine = await aMachine(Object.fromEntries(Object.entries(files).map(([path, text]) => [`sys/fs/cgroup/${path}`, text])));
    t.after(() => machine.remove());
    const hierarchy = await readCgroupHierarchy(machine.at('sys/fs/cgroup'));
    assert.equal(cgroupsInShort(hierarchy), short);
    if (fault) assert.match(cgroupFault(hierarchy) ?? '', fault);
    else assert.equal(cgroupFault(hierarchy), undefined);
  });

test('a machine without the directory has none', async () => {
  const { version } = await readCgroupHierarchy('/dev/null/cgroup');
  assert.equal(version, undefined);
});
