import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCpuSet, parseCpuSet } from '../../../../src/model/cpu-set.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import type { CpuAssignments } from '../../../../src/topology/cpu/cpu-allocations.ts';
import { cpuCheckpoint, type FindContainer, readCpuCheckpoint } from '../../../../src/topology/cpu/cpu-checkpoint.ts';

const pods: Readonly<Record<string, { readonly uid: PodUid; readonly name: string }>> = {
  containerID1: { uid: 'pod' as PodUid, name: 'container1' },
  containerID2: { uid: 'pod' as PodUid, name: 'container2' },
};
const find: FindContainer = (id) => pods[id];
const inWords = (json: unknown): string => {
  try {
    const read = readCpuCheckpoint(json, find);
    if (!read) return 'nothing';
    const own = [...read.exclusive].map(
      ([uid, all]) => `${uid} ${[...all].map(([name, cpus]) => `${name} ${formatCpuSet(cpus)}`).join(' ')}`,
    );
    return `shared ${formatCpuSet(read.shared)}; ${own.join('; ') || 'none'}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

/** Checksums of Kubernetes' own test cases. Their policy is none: that it is refused shows that the checksum was right. */
const ofKubernetes = 'configured policy "static" differs from state checkpoint policy "none"';
for (const [what, json, words] of [
  ['empty entries', { policyName: 'none', defaultCpuSet: '4-6', entries: {}, checksum: 354655845 }, ofKubernetes],
  [
    'two containers',
    { policyName: 'none', defaultCpuSet: '1-3', entries: { pod: { container2: '1-3', container1: '4-6' } }, checksum: 3610638499 },
    ofKubernetes,
  ],
  ['of before 1.18, empty', { policyName: 'none', defaultCpuSet: '1-3', checksum: 1694838852 }, ofKubernetes],
  [
    'of before 1.18',
    { policyName: 'none', defaultCpuSet: '1-3', entries: { containerID1: '4-6', containerID2: '1-3' }, checksum: 3680390589 },
    ofKubernetes,
  ],
  [
    'a wrong checksum',
    { policyName: 'none', defaultCpuSet: '4-6', entries: {}, checksum: 1337 },
    'checkpoint is corrupted: its checksum is not 1337',
  ],
  [
    'another policy',
    { policyName: 'other', defaultCpuSet: '1-3', entries: {}, checksum: 1394507217 },
    ofKubernetes.replace('none', 'other'),
  ],
] as const)
  test(`a checkpoint of the kubelet: ${what}`, () => assert.equal(inWords(json), words));

for (const [what, json, words] of [
  ['shared ones only', { policyName: 'static', defaultCpuSet: '0-3', checksum: 0 }, 'shared 0-3; none'],
  ['exclusive ones', { policyName: 'static', defaultCpuSet: '0,3', entries: { a: { app: '1-2' } } }, 'shared 0,3; a app 1-2'],
  ['by ids', { policyName: 'static', defaultCpuSet: '0,3', entries: { containerID1: '1-2' } }, 'shared 0,3; pod container1 1-2'],
  [
    'an unknown id',
    { policyName: 'static', defaultCpuSet: '0', entries: { gone: '1' } },
    "containerID 'gone' not found in initial containers list",
  ],
  ['nothing yet', { policyName: 'static', defaultCpuSet: '' }, 'nothing'],
  ['no set', { policyName: 'static', defaultCpuSet: '1.3' }, 'could not parse default cpu set "1.3"'],
  [
    'no set of a container',
    { policyName: 'static', defaultCpuSet: '0', entries: { pod: { app: 'asd' } } },
    'could not parse cpuset "asd" for container "app" in pod "pod"',
  ],
  ['a list', [], 'it is no JSON object'],
  ['numbers', { policyName: 1 }, 'policyName and defaultCpuSet have to be texts'],
  ['entries of another kind', { policyName: 'static', entries: [] }, 'entries has to be an object'],
  ['CPUs of another kind', { policyName: 'static', entries: { a: { app: 1 } } }, 'entries has to hold texts by pod and container'],
  ['texts and objects', { policyName: 'static', entries: { a: { app: '1' }, b: '2' } }, 'entries has to hold texts by pod and container'],
] as const)
  test(`a checkpoint with ${what}`, () => assert.equal(inWords(json), words));

const assigned: CpuAssignments = {
  shared: parseCpuSet('0,4-7'),
  exclusive: new Map([
    ['b' as PodUid, new Map([['app', parseCpuSet('1-2')]])],
    [
      'a' as PodUid,
      new Map([
        ['other', parseCpuSet('3')],
        ['init', parseCpuSet('3')],
      ]),
    ],
  ]),
};

test('what is written is read again, and any change of it is noticed', () => {
  const text = JSON.stringify(cpuCheckpoint(assigned));
  assert.match(
    text,
    /^\{"policyName":"static","defaultCpuSet":"0,4-7","entries":\{"b":\{"app":"1-2"\},"a":\{.*\}\},"checksum":[1-9]\d*\}$/,
  );
  assert.deepEqual(readCpuCheckpoint(JSON.parse(text), find), assigned);
  for (const [from, to] of [
    ['0,4-7', '0,4-8'],
    ['"app":"1-2"', '"app":"1-3"'],
    ['"b":', '"c":'],
  ] as const)
    assert.match(inWords(JSON.parse(text.replace(from, to))), /checkpoint is corrupted/);
});

test('entries are left out where there are none, as the kubelet does', () => {
  const empty = cpuCheckpoint({ shared: parseCpuSet('4-6'), exclusive: new Map() });
  assert.deepEqual(Object.keys(empty), ['policyName', 'defaultCpuSet', 'checksum']);
});
