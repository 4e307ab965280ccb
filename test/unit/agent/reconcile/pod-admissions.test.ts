import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CONFIG_SOURCE_ANNOTATION } from '../../../../src/model/config-annotations.ts';
import type { NodeUse } from '../../../../src/model/node-use.ts';
import { fitPod } from '../../../../src/model/fit-pod.ts';
import type { PodRefusal } from '../../../../src/model/pod-admission.ts';
import type { Pod, PodStatus, PodUid } from '../../../../src/model/pod.ts';
import { formatTime } from '../../../../src/model/time.ts';
import { DesiredPods } from '../../../../src/agent/mux/desired-pods.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import { PodAdmissions } from '../../../../src/agent/reconcile/pod-admissions.ts';
import { PodResizes } from '../../../../src/agent/reconcile/pod-resizes.ts';
import { ResourceRecords } from '../../../../src/agent/reconcile/resource-records.ts';
import { podFilesInMemory } from '../../../builders/node-parts.ts';
import { PodParticipants } from '../../../../src/agent/reconcile/pod-participants.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { silentHappenings } from '../../../fakes/silent-happenings.ts';

const { signal } = new AbortController();
const node = { metadata: { name: 'node-1' }, status: { allocatable: { cpu: '4', pods: '110' } } };

interface Wanted {
  readonly hostPort?: number;
  readonly cpu?: string;
  readonly createdAtMs?: number;
  readonly source?: 'api' | 'file';
  readonly status?: PodStatus;
  readonly metadata?: Partial<Pod['metadata']>;
}

function podOf(name: string, { hostPort = 80, cpu, createdAtMs = 0, source = 'api', status, metadata }: Wanted = {}): Pod {
  const container = aContainer('c', {
    ports: [{ containerPort: 80, hostPort }],
    ...(cpu !== undefined && { resources: { requests: { cpu } } }),
  });
  const pod = aPod(name, { containers: [container] });
  const annotations = { [CONFIG_SOURCE_ANNOTATION]: source };
  const created = source === 'api' ? { creationTimestamp: formatTime(createdAtMs) } : {};
  return { ...pod, metadata: { ...pod.metadata, annotations, ...created, ...metadata }, ...(status && { status }) };
}

/** A node on which these pods have been declared in this order. */
function aNode(...declared: readonly Pod[]) {
  const pods = new DesiredPods();
  const statuses = new Map<PodUid, PodStatus>();
  const found = new Set<PodUid>();
  const judge = async (pod: Pod, otherPods: NodeUse): Promise<PodRefusal | undefined> => fitPod({ pod, otherPods, node });
  const participants = new PodParticipants([{ name: 'fit', pod: { admit: judge } }], new FakeClock());
  const lives = { wasFound: (uid: PodUid) => found.has(uid) };
  const resizes = new PodResizes({
    clock: new FakeClock(),
    pods,
    statuses: { before: ({ status }) => status },
    records: new ResourceRecords(podFilesInMemory(), new FakeClock(), silentLogger),
    rules: { node, staticCpus: false, staticMemory: false, swaps: () => false, preempt: () => {}, event: () => {} },
    tell: silentHappenings,
    wake: () => {},
  });
  const admissions = new PodAdmissions({ pods, lives, statuses, participants, resizes, wake: () => {}, log: silentLogger });
  const admit = (pod: Pod): Promise<PodRefusal | undefined> => admissions.admit(pod, signal);
  const declare = (...more: readonly Pod[]): void => void pods.apply({ op: 'ADD', source: 'api', pods: more });
  const remove = (...some: readonly Pod[]): void => void pods.apply({ op: 'REMOVE', source: 'api', pods: some });
  declare(...declared);
  return { pods, statuses, found, admissions, declare, remove, admit, why: async (pod: Pod) => (await admit(pod))?.reason };
}

async function eachInTurn<T, U>(all: readonly T[], ask: (one: T) => Promise<U>): Promise<readonly U[]> {
  const answers: U[] = [];
  for (const one of all) answers.push(await ask(one));
  return answers;
}

test('of two pods that want one host port the older one is admitted, whichever is looked at first', async () => {
  const [older, younger] = [podOf('older', { createdAtMs: 1_000 }), podOf('younger', { createdAtMs: 2_000 })];
  for (const first of [older, younger]) {
    const { admit, why } = aNode(younger, older);
    await admit(first);
    assert.deepEqual([await why(older), await why(younger)], [undefined, 'NodePorts']);
  }
});

test('what was created in the same second is decided in the order in which it was declared', async () => {
  const [a, b] = [podOf('a'), podOf('b')];
  for (const [first, second] of [
    [a, b],
    [b, a],
  ] as const) {
    const { why } = aNode(first, second);
    assert.deepEqual([await why(second), await why(first)], ['NodePorts', undefined]);
  }
});

test('static pods go before pods of the API, and those that began before this agent before those that never did', async () => {
  const never = podOf('never', { createdAtMs: 1_000 });
  const began = podOf('began', { createdAtMs: 2_000, status: { phase: 'Running', startTime: formatTime(3_000) } });
  const file = podOf('file', { source: 'file' });
  const three = aNode(never, began, file);
  assert.deepEqual(await eachInTurn([never, began, file], three.why), ['NodePorts', 'NodePorts', undefined]);
  const two = aNode(never, began);
  assert.deepEqual(await eachInTurn([never, began], two.why), ['NodePorts', undefined]);
});

test('what is in the engine when the agent begins has been admitted, before anybody has looked at it', async () => {
  const [runs, older] = [podOf('runs', { createdAtMs: 2_000 }), podOf('older', { createdAtMs: 1_000 })];
  const { found, why } = aNode(older, runs);
  found.add(runs.metadata.uid);
  assert.deepEqual([await why(older), await why(runs)], ['NodePorts', undefined]);
});

test('what is admitted counts at once, although no status says so; what has ended does not count, what is being deleted does', async () => {
  const [first, second, third] = [podOf('first'), podOf('second'), podOf('third')];
  const { statuses, declare, pods, why } = aNode(first);
  assert.equal(await why(first), undefined);
  declare(second);
  assert.equal(await why(second), 'NodePorts');
  pods.apply({ op: 'DELETE', source: 'api', pods: [{ ...first, metadata: { ...first.metadata, deletionTimestamp: formatTime(0) } }] });
  declare(third);
  assert.equal(await why(third), 'NodePorts');
  statuses.set(first.metadata.uid, { phase: 'Succeeded' });
  const fourth = podOf('fourth');
  declare(fourth);
  assert.equal(await why(fourth), undefined);
});

test('resources are counted by what was admitted, not by what was told', async () => {
  const pods = Array.from({ length: 8 }, (_, i) => podOf(`p${i}`, { hostPort: 0, cpu: '1', createdAtMs: i * 1_000 }));
  const { why } = aNode(...pods.toReversed());
  assert.deepEqual((await eachInTurn(pods.toReversed(), why)).toReversed(), [...Array<undefined>(4), ...Array<string>(4).fill('OutOfcpu')]);
});

test('a decision stays until the pod is forgotten', async () => {
  const [first, second] = [podOf('first'), podOf('second', { createdAtMs: 1_000 })];
  const { admissions, remove, why } = aNode(first, second);
  assert.equal(await why(second), 'NodePorts');
  remove(first);
  assert.equal(await why(second), 'NodePorts');
  admissions.forget(second.metadata.uid);
  assert.equal(await why(second), undefined);
});

test('a pod of the API is not judged while a static pod has its name', async () => {
  const [file, namesake] = [podOf('web', { source: 'file' }), podOf('web', { metadata: { uid: 'other' as PodUid } })];
  const { remove, why } = aNode(file, namesake);
  assert.deepEqual([await why(namesake), await why(file)], [undefined, undefined]);
  remove(file);
  assert.equal(await why(namesake), undefined);
});

const portOf = (pod: Pod): number | undefined => pod.spec.containers[0]?.ports?.[0]?.hostPort;
/** Static pods have no time of creation. */
const comesFirst = ({ metadata: a }: Pod, { metadata: b }: Pod): boolean => (a.creationTimestamp ?? '') < (b.creationTimestamp ?? '');

test('in any order of arrivals, looks, endings and deletions no two admitted pods have one host port, and the older of two that are judged together wins', async () => {
  const arrivals = fc.array(
    fc.record({
      second: fc.integer({ min: 0, max: 5 }),
      hostPort: fc.integer({ min: 8_001, max: 8_003 }),
      file: fc.boolean(),
      inEngine: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    }),
    { minLength: 2, maxLength: 12 },
  );
  const steps = fc.array(fc.record({ do: fc.constantFrom('declare', 'look', 'look', 'end', 'remove'), which: fc.nat(11) }), {
    maxLength: 60,
  });
  await fc.assert(
    fc.asyncProperty(arrivals, steps, async (wanted, order) => {
      const all = wanted.map(({ second, hostPort, file }, i) =>
        podOf(`p${i}`, { hostPort, createdAtMs: second * 1_000, source: file ? 'file' : 'api' }),
      );
      const it = aNode();
      const declared = new Set<Pod>();
      const looked = new Map<Pod, PodRefusal | undefined>();
      /** Of each that was judged, by its own look or another's: who was judged with it. */
      const judgedWith = new Map<Pod, readonly Pod[]>();
      const over = new Set<Pod>();
      /** Who was refused one of these may have been refused it for good before. */
      const freed = new Set<number | undefined>();
      // The engine's own refusal of two ports is not this test's: only one pod of a port may run from before.
      const inEngine = new Map(all.flatMap((pod, i) => (wanted[i]?.inEngine ? [[portOf(pod), pod] as const] : [])));
      for (const pod of inEngine.values()) it.found.add(pod.metadata.uid);
      it.declare(...inEngine.values());
      for (const pod of inEngine.values()) declared.add(pod);
      for (const { do: what, which } of order) {
        const pod = all[which % all.length];
        assert.ok(pod);
        if (what === 'declare' && !declared.has(pod) && !over.has(pod)) {
          it.declare(pod);
          declared.add(pod);
        } else if (what === 'look' && declared.has(pod)) {
          const wasLooked = looked.has(pod);
          const refusal = await it.admit(pod);
          if (!judgedWith.has(pod) && !it.found.has(pod.metadata.uid)) {
            const waiting = [...declared].filter((each) => !judgedWith.has(each));
            for (const each of waiting) judgedWith.set(each, waiting);
          }
          if (wasLooked) assert.deepEqual(refusal, looked.get(pod));
          looked.set(pod, refusal);
          const isNew = !wasLooked && !it.found.has(pod.metadata.uid) && !freed.has(portOf(pod));
          const passedOver = (judgedWith.get(pod) ?? []).filter((each) => portOf(each) === portOf(pod) && comesFirst(each, pod));
          if (isNew && !refusal) assert.deepEqual(passedOver, [], 'one that comes first was passed over');
        } else if (what === 'end' && looked.has(pod) && looked.get(pod) === undefined) {
          it.statuses.set(pod.metadata.uid, { phase: 'Succeeded' });
          over.add(pod);
          freed.add(portOf(pod));
        } else if (what === 'remove' && declared.has(pod)) {
          it.remove(pod);
          it.admissions.forget(pod.metadata.uid);
          it.found.delete(pod.metadata.uid);
          declared.delete(pod);
          looked.delete(pod);
          over.add(pod);
          freed.add(portOf(pod));
        }
        const holders = [...declared].filter((each) => !over.has(each) && looked.has(each) && looked.get(each) === undefined);
        assert.equal(new Set(holders.map(portOf)).size, holders.length, 'two pods have one host port');
      }
    }),
    { numRuns: 2_000 },
  );
});
