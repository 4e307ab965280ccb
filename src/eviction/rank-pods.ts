import type { FilesystemLayout } from '../model/eviction/container-fs-thresholds.ts';
import type { Signal } from '../model/eviction/threshold.ts';
import { hasPodLevelResources } from '../model/pod-level-resources.ts';
import { podRequests } from '../model/pod-resources.ts';
import type { Pod } from '../model/pod.ts';
import { Quantity } from '../model/quantity.ts';
import type { ContainerUsage, FilesystemStats, PodUsage } from '../ports/pod-stats.ts';
import { starvedResource } from './starved-resource.ts';

/** A pod with what it uses; undefined: not known. */
export interface MeasuredPod {
  readonly pod: Pod;
  readonly usage: PodUsage | undefined;
}

/** What of a pod lies on a file system. */
type Part = 'rootfs' | 'logs' | 'volumes';

/** A pod and what of it counts. */
interface Ranked<P> {
  readonly of: P;
  readonly used: number;
  readonly requested: number;
  /** How much more than the request counts against the pod: not the same for inodes, as Kubernetes has it. */
  readonly above: number;
  readonly priority: number;
  readonly isMeasured: boolean;
}

/**
 * Pods in the order in which they are evicted, the first to go first: who uses more than it asked for, then the lower priority, then who is
 * further above what it asked for. A pod that is not measured goes before all that are (rankMemoryPressure, rankDiskPressureFunc). Of
 * processes no pod asks for any: priority, then their number (rankPIDPressure).
 */
export function rankPods<P extends MeasuredPod>(pods: readonly P[], signal: Signal, layout: FilesystemLayout): readonly P[] {
  const ranked = pods.map((of) => rank(of, signal, layout));
  const order = starvedResource(signal) === 'pids' ? compareProcesses : compareUsage;
  return ranked.toSorted(order).map(({ of }) => of);
}

function compareUsage(a: Ranked<unknown>, b: Ranked<unknown>): number {
  const unmeasured = Number(a.isMeasured) - Number(b.isMeasured);
  if (unmeasured !== 0) return unmeasured;
  // Of two that are not measured the priority decides.
  const exceeds = a.isMeasured ? Number(b.used > b.requested) - Number(a.used > a.requested) : 0;
  return exceeds || a.priority - b.priority || b.above - a.above;
}

function compareProcesses(a: Ranked<unknown>, b: Ranked<unknown>): number {
  return a.priority - b.priority || Number(a.isMeasured) - Number(b.isMeasured) || b.used - a.used;
}

function rank<P extends MeasuredPod>(of: P, signal: Signal, layout: FilesystemLayout): Ranked<P> {
  const { pod, usage } = of;
  const resource = starvedResource(signal);
  const used = usage === undefined ? 0 : usageOf(of.pod, usage, signal, layout);
  return {
    of,
    used,
    requested: requestOf(pod, resource),
    above: used - requestOf(pod, resource === 'inodes' ? 'ephemeral-storage' : resource),
    priority: pod.spec.priority ?? 0,
    isMeasured: usage !== undefined,
  };
}

function usageOf(pod: Pod, usage: PodUsage, signal: Signal, layout: FilesystemLayout): number {
  const resource = starvedResource(signal);
  switch (resource) {
    case 'memory':
      return usage.memory?.workingSetBytes ?? 0;
    case 'pids':
      return usage.processes ?? 0;
    case 'ephemeral-storage':
    case 'inodes':
      return storageOf(pod, usage, partsOn(signal, layout), resource === 'inodes' ? 'inodesUsed' : 'usedBytes');
    default:
      return resource satisfies never;
  }
}

/** Which parts lie on the file system that the signal is about (buildSignalToRankFunc). */
function partsOn(signal: Signal, { imageFs, splitFs }: FilesystemLayout): readonly Part[] {
  if (!imageFs) return ['rootfs', 'logs', 'volumes'];
  if (signal.startsWith('nodefs') || (splitFs && signal.startsWith('containerfs')))
    return splitFs ? ['logs', 'volumes', 'rootfs'] : ['logs', 'volumes'];
  return splitFs ? [] : ['rootfs'];
}

function storageOf(pod: Pod, usage: PodUsage, parts: readonly Part[], count: 'usedBytes' | 'inodesUsed'): number {
  const used = (stats: FilesystemStats | undefined): number => stats?.[count] ?? 0;
  const ofContainer = ({ rootfs, logs }: ContainerUsage): number =>
    (parts.includes('rootfs') ? used(rootfs) : 0) + (parts.includes('logs') ? used(logs) : 0);
  const local = parts.includes('volumes') ? localVolumes(pod) : [];
  const volumes = local.map((name) => used(usage.volumes.find((volume) => volume.name === name)));
  return [...usage.containers.map(ofContainer), ...volumes].reduce((sum, each) => sum + each, 0);
}

/** Volumes on the node's own file system (localVolumeNames). */
function localVolumes(pod: Pod): readonly string[] {
  return (pod.spec.volumes ?? [])
    .filter(({ hostPath, gitRepo, emptyDir, configMap }) => hostPath || gitRepo || configMap || (emptyDir && !emptyDir.medium))
    .map(({ name }) => name);
}

/** What the pod as a whole asks for goes in place of its containers' requests, also where it asks for something else alone (GetResourceRequestQuantity). */
function requestOf(pod: Pod, resource: string): number {
  const asked = podRequests(pod, { skipContainerLevelResources: hasPodLevelResources(pod), excludeOverhead: true }).get(resource);
  if (asked === undefined || asked.isZero()) return 0;
  const overhead = pod.spec.overhead?.[resource];
  return Number((overhead === undefined ? asked : asked.add(Quantity.fromJson(overhead))).value());
}
