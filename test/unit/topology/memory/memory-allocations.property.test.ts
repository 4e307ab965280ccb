import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { numaMask } from '../../../../src/model/numa-mask.ts';
import type { Container, Pod, PodUid } from '../../../../src/model/pod.ts';
import type { TopologyHint } from '../../../../src/model/topology-hint.ts';
import { MemoryAllocations } from '../../../../src/topology/memory/memory-allocations.ts';
import { memoryCheckpoint, readMemoryCheckpoint } from '../../../../src/topology/memory/memory-checkpoint.ts';
import { memoryStateFault } from '../../../../src/topology/memory/memory-state-fault.ts';
import { type NodeMemories, unassignedMemory } from '../../../../src/topology/memory/node-memory.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { someMachine } from '../../../builders/machine.ts';

const PAGES = 'hugepages-1Mi';
const MIB = 2 ** 20;

const nodes = fc
  .record({ nodes: fc.integer({ min: 1, max: 4 }), mebibytes: fc.integer({ min: 20, max: 40 }), pages: fc.integer({ min: 0, max: 6 }) })
  .map(({ nodes: count, mebibytes, pages }) => {
    const machine = someMachine({ nodes: count, memoryBytes: mebibytes * MIB, hugePages: [{ pageSizeKiB: 1024, pages }] });
    return unassignedMemory(machine.nodes, new Map([[0, new Map([['memory', MIB]])]]));
  });

const container = fc.record({
  mebibytes: fc.integer({ min: 1, max: 50 }),
  pages: fc.option(fc.integer({ min: 0, max: 8 })),
  kind: fc.constantFrom('init', 'sidecar', 'app' as const),
});
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('admit' as const),
      pod: fc.nat(5),
      containers: fc.array(container, { minLength: 1, maxLength: 5 }),
      hint: fc.record({ nodes: fc.option(fc.integer({ min: 1, max: 15 })), preferred: fc.boolean() }),
      // Containers that are allocated for before the agent ends.
      until: fc.nat(6),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), pod: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

function podOf(number: number, containers: readonly (typeof container extends fc.Arbitrary<infer T> ? T : never)[]): Pod {
  const all = containers.map(({ mebibytes, pages, kind }, index): readonly [string, Container] => {
    const amounts = { cpu: '1', memory: `${mebibytes}Mi`, ...(pages !== null && { [PAGES]: `${pages}Mi` }) };
    const restart = kind === 'sidecar' ? { restartPolicy: 'Always' as const } : {};
    return [kind, aContainer(`c${index}`, { resources: { requests: amounts, limits: amounts }, ...restart })];
  });
  const of = (isApp: boolean): Container[] => all.filter(([kind]) => (kind === 'app') === isApp).map(([, each]) => each);
  const apps = of(true);
  return aPod(`p${number}`, { initContainers: of(false), containers: apps.length > 0 ? apps : [aContainer('last', of(false)[0])] });
}

function hintFor(
  { nodes: mask, preferred }: { readonly nodes: number | null; readonly preferred: boolean },
  machine: NodeMemories,
): TopologyHint {
  const ids = [...machine.keys()].filter((id) => ((mask ?? 0) & (1 << id)) !== 0);
  return { nodes: ids.length === 0 ? undefined : numaMask(ids), preferred };
}

/** By the blocks alone: what comes from a set of nodes is no more than these have, and no node is in two sets. */
function checkOwners(all: MemoryAllocations, unassigned: NodeMemories): void {
  const sums = new Map<string, Map<string, number>>();
  for (const containers of all.assignments.values())
    for (const blocks of containers.values())
      for (const { nodes: ids, type, size } of blocks) {
        const types = sums.get(ids.join()) ?? new Map<string, number>();
        sums.set(ids.join(), types.set(type, (types.get(type) ?? 0) + size));
      }
  const ids = [...sums.keys()].flatMap((key) => key.split(','));
  assert.equal(new Set(ids).size, ids.length, `a node gives memory in two ways: ${[...sums.keys()].join(' and ')}`);
  for (const [key, types] of sums)
    for (const [type, size] of types) {
      const has = key.split(',').reduce((sum, id) => sum + (unassigned.get(Number(id))?.tables.get(type)?.allocatable ?? 0), 0);
      assert.ok(size <= has, `${size} of ${type} are given from nodes ${key}, which have ${has}`);
      const reserved = key.split(',').reduce((sum, id) => sum + (all.nodes.get(Number(id))?.tables.get(type)?.reserved ?? 0), 0);
      assert.equal(reserved, size, 'what is reserved is what containers have');
    }
  for (const { tables } of all.nodes.values())
    for (const { free, reserved, allocatable } of tables.values()) assert.deepEqual([free >= 0, free + reserved], [true, allocatable]);
}

/** What runs for as long as the pod has all that it asks for. */
function checkGiven(all: MemoryAllocations, { metadata: { uid }, spec }: Pod): void {
  for (const { name, resources, restartPolicy } of [...(spec.initContainers ?? []), ...spec.containers]) {
    const blocks = all.assignments.get(uid)?.get(name) ?? [];
    const isInit = spec.initContainers?.some((each) => each.name === name) === true && restartPolicy !== 'Always';
    const memory = blocks.find(({ type }) => type === 'memory')?.size ?? -1;
    if (!isInit) assert.equal(`${memory / MIB}Mi`, resources?.requests?.['memory']);
    assert.ok(all.nodesOf(uid, name).length > 0);
  }
}

test('no memory has two owners, whatever comes, goes and restarts', () => {
  fc.assert(
    fc.property(nodes, fc.array(step, { maxLength: 30 }), (unassigned, steps) => {
      let all = new MemoryAllocations({ unassigned });
      const restart = (): void => {
        const state = readMemoryCheckpoint(JSON.parse(JSON.stringify(memoryCheckpoint(all))));
        assert.ok(state);
        assert.equal(memoryStateFault(state, unassigned), undefined);
        all = new MemoryAllocations({ unassigned, restored: state.assignments });
      };
      const pods = new Map<PodUid, Pod>();
      for (const each of steps) {
        if (each.do === 'restart') restart();
        else if (each.do === 'release') {
          all.release(`uid-p${each.pod}` as PodUid);
          pods.delete(`uid-p${each.pod}` as PodUid);
        } else {
          const uid = `uid-p${each.pod}` as PodUid;
          const pod = pods.get(uid) ?? podOf(each.pod, each.containers);
          const hint = hintFor(each.hint, unassigned);
          const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
          const allocate = (some: readonly Container[]): boolean => some.every((one) => all.allocate(pod, one, hint) === undefined);
          if (each.until < containers.length) {
            allocate(containers.slice(0, each.until));
            restart();
          }
          if (allocate(containers)) {
            pods.set(uid, pod);
            checkGiven(all, pod);
          } else {
            all.release(uid);
            pods.delete(uid);
          }
        }
        checkOwners(all, unassigned);
      }
      for (const uid of all.uids) all.release(uid);
      assert.deepEqual(all.nodes, unassigned, 'nothing is left behind');
    }),
    { numRuns: 500 },
  );
});
