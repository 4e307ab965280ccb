import type { Pod, PodSpec, PodUid } from '../../../src/model/pod.ts';
import { Quantity } from '../../../src/model/quantity.ts';
import { PodAllocations } from '../../../src/model/pod-allocations.ts';

type Requirements = NonNullable<PodSpec['resources']>;
interface Step {
  readonly op: 'add' | 'set' | 'push' | 'retry' | 'remove';
  readonly pod?: string;
  readonly new?: Readonly<Record<string, Requirements | number>>;
}
interface In {
  readonly node: {
    readonly cpu: string;
    readonly memory: string;
    readonly cpuManagerPolicy?: string;
    readonly memoryManagerPolicy?: string;
    readonly swapBehavior?: string;
  };
  readonly pods: readonly Pod[];
  readonly steps: readonly Step[];
}

/** Go writes amounts in their canonical form. */
function canonical({ limits, requests }: Requirements): object {
  const written = (amounts: Requirements['limits']): object =>
    Object.fromEntries(Object.entries(amounts ?? {}).map(([name, amount]) => [name, Quantity.fromJson(amount).canonical()]));
  return { ...(limits && { limits: written(limits) }), ...(requests && { requests: written(requests) }) };
}

function changed(pod: Pod, { priority, '': ofPod, ...containers }: Readonly<Record<string, Requirements | number>>): Pod {
  const own = (container: Pod['spec']['containers'][number]): typeof container => {
    const resources = containers[container.name] as Requirements | undefined;
    return resources ? { ...container, resources } : container;
  };
  return {
    ...pod,
    metadata: { ...pod.metadata, generation: (pod.metadata.generation ?? 0) + 1 },
    spec: {
      ...pod.spec,
      ...(priority !== undefined && { priority: priority as number }),
      ...(ofPod !== undefined && { resources: ofPod as Requirements }),
      containers: pod.spec.containers.map(own),
      ...(pod.spec.initContainers && { initContainers: pod.spec.initContainers.map(own) }),
    },
  };
}

export function run({ node, pods, steps }: In): unknown {
  const amounts = { cpu: node.cpu, memory: node.memory, pods: '110' };
  const known = new Map(pods.map((pod) => [pod.metadata.uid as string, pod]));
  const active: string[] = [];
  const activePods = (): readonly Pod[] => active.flatMap((uid) => known.get(uid) ?? []);
  let killed: string[] = [];
  let events: string[] = [];
  let syncs: string[] = [];
  const allocations = new PodAllocations({
    node: { status: { allocatable: amounts, capacity: amounts } },
    staticCpus: node.cpuManagerPolicy === 'static',
    staticMemory: node.memoryManagerPolicy === 'Static',
    swaps: () => node.swapBehavior !== undefined,
    preempt: ({ metadata }) => {
      killed.push(metadata.uid);
      events.push('Warning Preempting Preempted in order to admit critical pod');
    },
    event: (_pod, type, reason, message) => events.push(`${type} ${reason} ${message}`),
    accepted: () => {},
    infeasible: () => {},
    changed: ({ metadata }) => syncs.push(metadata.uid),
  });
  const state = (): object => {
    const conditions = active.map((uid) => [uid, allocations.conditionsOf(uid as PodUid)] as const).filter(([, some]) => some.length > 0);
    const shown = conditions.map(([uid, some]) => [
      uid,
      some.map(({ type, reason = '', message = '', observedGeneration }) => ({ type, reason, message, observedGeneration })),
    ]);
    const allocation = active.map((uid) => {
      const given = allocations.allocationOf(uid as PodUid);
      const containers = [...(given?.containers ?? [])].map(([name, resources]) => [name, canonical(resources)] as const);
      return [uid, { ...Object.fromEntries(containers), ...(given?.pod && { '': canonical(given.pod) }) }];
    });
    return { ...(shown.length > 0 && { conditions: Object.fromEntries(shown) }), allocation: Object.fromEntries(allocation) };
  };
  return steps.map(({ op, pod: uid = '', new: asked = {} }) => {
    killed = [];
    events = [];
    syncs = [];
    let more: object = {};
    const pod = known.get(uid);
    if (op === 'retry') {
      const allocated = allocations.retry(activePods()).map(({ metadata }) => metadata.uid);
      more = { allocated, ...state() };
    } else if (pod === undefined) throw new Error(`no pod ${uid}`);
    else if (op === 'add') {
      const refusal = allocations.add(pod, activePods());
      if (refusal === undefined) active.push(uid);
      more = { admit: refusal === undefined, reason: refusal?.reason ?? '', message: refusal?.message ?? '' };
    } else if (op === 'set') known.set(uid, changed(pod, asked));
    else if (op === 'push') allocations.push(pod.metadata.uid, activePods());
    else {
      // A pod may be removed twice.
      if (active.includes(uid)) active.splice(active.indexOf(uid), 1);
      allocations.remove(pod.metadata.uid);
      more = state();
    }
    return {
      ...more,
      pending: allocations.waiting,
      ...(syncs.length > 0 && { syncs }),
      ...(killed.length > 0 && { killed }),
      ...(events.length > 0 && { events }),
    };
  });
}
