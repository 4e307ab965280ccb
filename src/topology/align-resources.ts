import { join } from 'node:path';
import { unlessAborted } from '../base/unless-aborted.ts';
import { aborted } from '../base/aborted.ts';
import { inAdmissionOrder } from '../model/admission-order.ts';
import type { PodRefusal } from '../model/pod-admission.ts';
import { isTerminalPhase } from '../model/pod-predicates.ts';
import { type Pod, type PodUid, aboutPod } from '../model/pod.ts';
import { topologyPolicyOptions } from '../options/resource-manager-options.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { TopologyHintProvider } from '../ports/topology-hint-provider.ts';
import { type CpuManagerNeeds, openCpuManager } from './cpu/open-cpu-manager.ts';
import { putBackCpus } from './cpu/put-back-cpus.ts';
import { openMemoryManager } from './memory/open-memory-manager.ts';
import type { MachineTopology } from './machine-topology.ts';
import type { HintRules } from './merge-hints.ts';
import { readMachineTopology, type SysPaths } from './read-machine-topology.ts';
import { alignPod } from './topology-manager.ts';

/** Of the node's parts. */
export type AlignmentNeeds = CpuManagerNeeds &
  Pick<NodeParts, 'pods' | 'lives' | 'statuses' | 'wake' | 'folded' | 'clock' | 'cgroups' | 'engine'>;

/**
 * CPUs and memory of their own for containers of Guaranteed pods, from NUMA nodes that suit all they ask for (pkg/kubelet/cm: cpumanager,
 * memorymanager, topologymanager). Rejects where what was given before does not fit the machine, or the machine not the options.
 */
export async function alignResources(needs: AlignmentNeeds, paths: SysPaths = { root: '/' }): Promise<Contribution> {
  const { options, pods, lives, statuses, wake, clock, cgroups, engine, tell, folded: log } = needs;
  const machine = await readMachineTopology(paths);
  const rules = hintRules(options, machine);
  const wakeAll = (): void => {
    for (const { pod } of pods.list()) wake(pod.metadata.uid, 'resources changed');
  };
  const cpus = options.cpuManagerPolicy === 'static' ? await openCpuManager(needs, machine, wakeAll) : undefined;
  const memory = options.memoryManagerPolicy === 'Static' ? await openMemoryManager(needs, machine) : undefined;
  const managers = [cpus, memory].filter((manager) => manager !== undefined);
  let providers: readonly TopologyHintProvider[] = managers;
  const scope = options.topologyManagerScope === 'pod' ? 'pod' : 'container';

  // One after the other: what init containers leave for the next one is known of one pod at a time.
  let turn: Promise<unknown> = Promise.resolve();
  const align = (pod: Pod, signal: AbortSignal): Promise<PodRefusal | undefined> => {
    const before = turn;
    const mine = before
      .catch(() => {})
      .then(async () => {
        const startedAtMs = clock.monotonicMs();
        const refusal = await alignPod(pod, { rules, scope, providers: () => providers }, signal);
        tell.topologyAligned({ tookMs: clock.monotonicMs() - startedAtMs, failed: refusal !== undefined });
        return refusal;
      });
    turn = mine;
    return mine;
  };
  const release = async (uid: PodUid): Promise<void> => {
    for (const manager of managers) await manager.release(uid);
  };

  /** Of pods that are gone since an agent was here last, nothing else would tell. */
  const releaseGone = async (): Promise<void> => {
    for (const uid of new Set(managers.flatMap((manager) => [...manager.uids])))
      if (!pods.get(uid) && !lives.wasFound(uid)) await release(uid);
  };
  /** What runs is not admitted again: it gets what it asks for where it has nothing yet, as at a start of the kubelet. */
  const alignRunning = async (signal: AbortSignal): Promise<void> => {
    const known = new Set(managers.flatMap((manager) => [...manager.uids]));
    const running = pods.list().flatMap(({ pod }) => {
      const { uid } = pod.metadata;
      return lives.wasFound(uid) && !known.has(uid) && !isTerminalPhase((statuses.get(uid) ?? pod.status)?.phase) ? [pod] : [];
    });
    for (const pod of inAdmissionOrder(running)) {
      const refusal = await align(pod, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        return { error };
      });
      if (!refusal) continue;
      await release(pod.metadata.uid);
      log.warn('a running pod stays without CPUs and memory of its own', { ...aboutPod(pod), ...refusal });
    }
  };

  const periodMs = options.cpuManagerReconcilePeriodMs;
  const putBack = cpus &&
    periodMs > 0 &&
    cgroups.version !== undefined && {
      name: 'CPUs of containers',
      stage: 'beside pods' as const,
      run: (signal: AbortSignal): Promise<void> => {
        const cpuset = (uid: PodUid, container: string): string => cpus.cpuset(uid, container);
        const { running, runtime } = engine;
        return putBackCpus({ running, runtime, pods, cgroups, clock, wake, log, cpuset, proc: join(paths.root, 'proc'), periodMs }, signal);
      },
    };
  return {
    pod: {
      admit: (pod, _others, signal) => align(pod, signal),
      container: async ({ metadata: { uid } }, { name }) => {
        const mems = memory?.cpusetMems(uid, name);
        return { ...(cpus && { cpuset: cpus.cpuset(uid, name) }), ...(mems !== undefined && { cpusetMems: mems }) };
      },
      cpuset: (uid, container) => cpus?.cpuset(uid, container),
      tearDown: release,
      release,
    },
    assigned: {
      cpus: (uid, container) => [...(cpus?.exclusiveOf(uid, container) ?? [])],
      allocatableCpus: () => [...(cpus?.allocatable ?? [])],
      memory: (uid, container) => memory?.assignedTo(uid, container) ?? [],
      allocatableMemory: () => memory?.allocatable ?? [],
    },
    services: [
      {
        name: 'resources of NUMA nodes',
        stage: 'before pods',
        run: async (signal, { hints }) => {
          // In the kubelet's order: devices first.
          providers = [...hints, ...managers];
          await unlessAborted(pods.syncedOnce, signal).catch(() => {});
          if (signal.aborted) return;
          await releaseGone();
          await alignRunning(signal);
          await aborted(signal);
        },
      },
      ...(putBack ? [putBack] : []),
    ],
  };
}

/** Undefined: nothing is aligned. Throws where the machine has more NUMA nodes than the options allow for. */
function hintRules(
  { topologyManagerPolicy, topologyManagerPolicyOptions }: AlignmentNeeds['options'],
  { nodes }: MachineTopology,
): HintRules | undefined {
  if (topologyManagerPolicy === 'none') return undefined;
  const { preferClosestNumaNodes: preferClosest, maxAllowableNumaNodes: most } = topologyPolicyOptions(topologyManagerPolicyOptions);
  if (nodes.length > most)
    throw new Error(
      `topologyManagerPolicy ${topologyManagerPolicy} goes with at most ${most} NUMA nodes, and this machine has ${nodes.length}: set topologyManagerPolicyOptions max-allowable-numa-nodes, or policy none`,
    );
  if (preferClosest && nodes.some(({ distances }) => distances === undefined))
    throw new Error(
      'topologyManagerPolicyOptions prefer-closest-numa-nodes needs the distances of NUMA nodes, which this kernel does not tell: leave it out',
    );
  const policy =
    topologyManagerPolicy === 'restricted' || topologyManagerPolicy === 'single-numa-node' ? topologyManagerPolicy : 'best-effort';
  return { policy, nodes, preferClosest };
}
