import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OomVictim, OomVictims } from '../../../src/systemoom/oom-victims.ts';

/** Records of the kernel's own, one line each. */
const kernelSays = (...lines: readonly string[]): readonly string[] => lines.map((line, n) => `4,${1000 + n},5445155214,-;${line}\n`);
function victimsOf(records: readonly string[]): readonly OomVictim[] {
  const victims = new OomVictims();
  return records.flatMap((record) => victims.take(record) ?? []);
}

for (const [when, lines, expected] of [
  [
    'of the whole machine, since Linux 5.0',
    [
      'stress invoked oom-killer: gfp_mask=0x140dca(GFP_HIGHUSER_MOVABLE|__GFP_ZERO|__GFP_COMP), order=0, oom_score_adj=1000',
      'Mem-Info:',
      '[  12345]     0 12345  3945358  3642000 29310976        0          1000 stress-ng-vm',
      'oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/kubepods/burstable/podf6/1a,task=stress-ng-vm,pid=3103923,uid=0',
      'Out of memory: Killed process 3103923 (stress-ng-vm) total-vm:15791416kB, anon-rss:14369596kB, file-rss:4kB, shmem-rss:36kB, UID:0 pgtables:28184kB oom_score_adj:1000',
      'oom_reaper: reaped process 3103923 (stress-ng-vm), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB',
    ],
    [{ name: 'stress-ng-vm', pid: 3103923 }],
  ],
  [
    'of a container, cgroup v1',
    [
      'go-oom-test invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=-997',
      'memory: usage 524288kB, limit 524288kB, failcnt 125',
      'oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=0f0ace,mems_allowed=0-1,oom_memcg=/kubepods/poda41b2cd5,task_memcg=/kubepods/poda41b2cd5/0f0ace,task=go-oom-test,pid=238343,uid=0',
      'Memory cgroup out of memory: Killed process 238343 (go-oom-test) total-vm:3950264kB, anon-rss:204516kB, file-rss:1256kB, shmem-rss:0kB, UID:0 pgtables:488kB oom_score_adj:-997',
    ],
    [],
  ],
  [
    'of a container that is killed whole, cgroup v2',
    [
      'tail invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=985',
      'oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=cri-containerd-5b.scope,mems_allowed=0,oom_memcg=/kubepods.slice/kubepods-podb1.slice/cri-containerd-5b.scope,task_memcg=/kubepods.slice/kubepods-podb1.slice/cri-containerd-5b.scope,task=tail,pid=7420,uid=0',
      'Memory cgroup out of memory: Killed process 7420 (tail) total-vm:53320kB, anon-rss:50176kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:144kB oom_score_adj:985',
      'Tasks in /kubepods.slice/kubepods-podb1.slice/cri-containerd-5b.scope are going to be killed due to memory.oom.group set',
      'Memory cgroup out of memory: Killed process 7398 (sh) total-vm:4340kB, anon-rss:0kB, file-rss:512kB, shmem-rss:0kB, UID:0 pgtables:48kB oom_score_adj:985',
    ],
    [],
  ],
  [
    'of the whole machine, in which a whole container is killed',
    [
      'Out of memory: Killed process 7420 (tail) total-vm:53320kB, anon-rss:50176kB, UID:0 pgtables:144kB oom_score_adj:985',
      'Tasks in /kubepods.slice/a are going to be killed due to memory.oom.group set',
      'Out of memory: Killed process 7398 (sh) total-vm:4340kB, anon-rss:0kB, UID:0 pgtables:48kB oom_score_adj:985',
    ],
    [
      { name: 'tail', pid: 7420 },
      { name: 'sh', pid: 7398 },
    ],
  ],
  [
    'of who asked, by vm.oom_kill_allocating_task',
    ['Out of memory (oom_kill_allocating_task): Killed process 31 (java) total-vm:1kB, anon-rss:1kB'],
    [{ name: 'java', pid: 31 }],
  ],
  [
    'of the whole machine before Linux 5.0, a child in place of its parent',
    [
      'python invoked oom-killer: gfp_mask=0x14200ca(GFP_HIGHUSER_MOVABLE), nodemask=(null),  order=0, oom_score_adj=0',
      'Out of memory: Kill process 2011 (python) score 871 or sacrifice child',
      'Killed process 2040 (worker) total-vm:4157200kB, anon-rss:3561024kB, file-rss:0kB, shmem-rss:0kB',
    ],
    [{ name: 'worker', pid: 2040 }],
  ],
  [
    'of a container before Linux 5.0',
    [
      'Task in /docker/9d/x killed as a result of limit of /docker/9d',
      'Memory cgroup out of memory: Kill process 66 (tail) score 900 or sacrifice child',
      'Killed process 66 (tail) total-vm:53320kB, anon-rss:50176kB, file-rss:0kB, shmem-rss:0kB',
      'Killed process 67 (tail) total-vm:53320kB, anon-rss:50176kB, file-rss:0kB, shmem-rss:0kB',
    ],
    [],
  ],
  ['of nobody: there is none that may be killed', ['Out of memory and no killable processes...', 'Killed process'], []],
] as const)
  test(`killed for want of memory: ${when}`, () => {
    assert.deepEqual(victimsOf(kernelSays(...lines)), expected);
  });

test('a name may hold brackets and what steers terminals, as the kernel writes it, and no more than a name can', () => {
  const of = (name: string): readonly OomVictim[] => victimsOf(kernelSays(`Out of memory: Killed process 5 (${name}) total-vm:1kB`));
  const longest = String.raw`\x1b`.repeat(15);
  for (const name of ['a) (b', ': Killed process', longest]) assert.deepEqual(of(name), [{ name, pid: 5 }]);
  for (const name of ['', `${longest}x`, '\u001b[2J', 'ü']) assert.deepEqual(of(name), []);
});

test('what is not the kernel’s own record is nobody’s word: programs may write into its log, too', () => {
  const killed = 'Out of memory: Killed process 5 (a) total-vm:1kB';
  for (const record of [
    `12,1000,5445155214,-;${killed}\n`,
    `4,1000,5445155214,-;kubelet: ${killed}\n`,
    `4,1000,5445155214,-;x\n ${killed}\n`,
    `4,${'9'.repeat(500)},-;${killed}\n`,
    killed,
    '',
    ';',
    '4,1;',
    '4,1,2,-;Out of memory: Killed process 99999999999 (a)',
    `4,1,2,-;${'Out of memory: '.repeat(500)}`,
    `4,1,2,-;${'a'.repeat(8000)}: Killed process 1 (a)`,
  ])
    assert.deepEqual(victimsOf([record]), [], record.slice(0, 60));
});
