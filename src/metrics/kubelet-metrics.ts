import { Registry } from 'prom-client';
import type { Clock } from '../base/clock.ts';
import { kubeletVersion } from '../model/kubelet-version.ts';
import { KUBERNETES_RELEASE } from '../model/kubernetes-release.ts';
import type { PodUpdate } from '../model/pod-update.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { StatusChange } from '../ports/pod-statuses.ts';
import { apiMetrics } from './api-metrics.ts';
import { credentialProviderMetrics } from './credential-provider-metrics.ts';
import { cgroupMetrics } from './cgroup-metrics.ts';
import { certificateMetrics } from './certificate-metrics.ts';
import { deviceMetrics } from './device-metrics.ts';
import { driverMetrics } from './driver-metrics.ts';
import { evictionMetrics } from './eviction-metrics.ts';
import { healthMetrics } from './health-metrics.ts';
import { imageMetrics } from './image-metrics.ts';
import { engineMetrics } from './engine-metrics.ts';
import { MetricSet } from './metric-set.ts';
import { plegMetrics } from './pleg-metrics.ts';
import { podMetrics } from './pod-metrics.ts';
import { podStartMetrics } from './pod-start-metrics.ts';
import { probeMetrics } from './probe-metrics.ts';
import { preemptionMetrics } from './preemption-metrics.ts';
import { processMetrics } from './process-metrics.ts';
import { resizeMetrics } from './resize-metrics.ts';
import { serverMetrics } from './server-metrics.ts';
import { shutdownMetrics } from './shutdown-metrics.ts';
import { storageMetrics } from './storage-metrics.ts';
import { terminationMetrics } from './termination-metrics.ts';
import { topologyMetrics } from './topology-metrics.ts';
import { workQueueMetrics } from './work-queue-metrics.ts';

export interface KubeletMetricsOptions {
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly nodeName: string;
  /** "0.1.0" */
  readonly version: string;
}

/** What the agent tells of itself, under the kubelet's names (pkg/kubelet/metrics/metrics.go). Nothing runs between scrapes. */
export interface KubeletMetrics {
  /** Counts what happens. */
  readonly listener: Omit<Happenings, NotCounted>;
  /** Counts what is declared. */
  readonly declared: (update: PodUpdate) => void;
  /** Counts what statuses say. */
  readonly changed: (change: StatusChange) => void;
  /** What /metrics answers. */
  text(): Promise<string>;
  /** What /metrics/probes answers. */
  probeText(): Promise<string>;
  /** What /metrics/slis answers. */
  sliText(): Promise<string>;
  /** Counts for /metrics/slis from zero. */
  resetSlis(): void;
}

/** What is there to be shown to people. */
type NotCounted =
  | 'noted'
  | 'stepBegun'
  | 'eventRecorded'
  | 'manifestRead'
  | 'manifestGone'
  | 'manifestsCollided'
  | 'mirrorTried'
  | 'reclaimWaits'
  | 'leaseTried'
  | 'probeTried'
  | 'imagePulling';

/** Registers everything in registries of its own. */
export function kubeletMetrics({ clock, nodeName, version }: KubeletMetricsOptions): KubeletMetrics {
  const monotonicMs = (): number => clock.monotonicMs();
  const nowMs = (): number => clock.now();
  const registry = new Registry();
  const set = new MetricSet(registry);
  const probes = new MetricSet(new Registry());
  const slis = new MetricSet(new Registry());
  constants(set, nodeName, version);
  processMetrics(registry, { nowMs });
  const pods = podMetrics(set);
  const starts = podStartMetrics(set, { clock });
  const images = imageMetrics(set);
  const resizes = resizeMetrics(set);
  const ofProbes = probeMetrics(probes);
  const terminated = terminationMetrics(set);
  return {
    listener: {
      ...resizes,
      reconciled: (record) => {
        pods.reconciled(record);
        resizes.reconciled(record);
      },
      ...plegMetrics(set),
      ...engineMetrics(set),
      ...apiMetrics(set),
      ...workQueueMetrics(set, monotonicMs),
      ...serverMetrics(set, monotonicMs),
      ...storageMetrics(set),
      ...topologyMetrics(set),
      ...deviceMetrics(set),
      ...driverMetrics(set),
      ...credentialProviderMetrics(set),
      ...evictionMetrics(set),
      ...preemptionMetrics(set),
      ...cgroupMetrics(set),
      ...shutdownMetrics(set),
      ...certificateMetrics(set, nowMs),
      probeExecuted: ofProbes.probeExecuted,
      podEnded: (pod) => {
        ofProbes.podEnded(pod);
        starts.podEnded(pod);
        resizes.podEnded(pod);
      },
      imagePulled: (image) => {
        images.imagePulled(image);
        starts.imagePulled(image);
      },
      imageRemoved: images.imageRemoved,
      imageChecked: images.imageChecked,
      imageEnsured: images.imageEnsured,
      imageVolumesShown: images.imageVolumesShown,
      ...healthMetrics(slis),
    },
    declared: (update) => {
      pods.declared(update);
      starts.declared(update);
      resizes.declared(update);
    },
    changed: (change) => {
      starts.changed(change);
      terminated(change);
      resizes.changed(change);
    },
    text: () => registry.metrics(),
    probeText: () => probes.registry.metrics(),
    sliText: () => slis.registry.metrics(),
    resetSlis: () => slis.registry.resetMetrics(),
  };
}

function constants(set: MetricSet, nodeName: string, version: string): void {
  set.gauge('kubelet_node_name', "The node's name. The count is always 1.", ['node']).set({ node: nodeName }, 1);
  set.gauge(
    'kubelet_node_config_error',
    'This metric is true (1) if the node is experiencing a configuration-related error, false (0) otherwise.',
  );
  set
    .gauge(
      'kubernetes_build_info',
      "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
      ['major', 'minor', 'git_version', 'git_commit', 'git_tree_state', 'build_date', 'go_version', 'compiler', 'platform'],
    )
    .set(buildInfo(version), 1);
}

function buildInfo(version: string): Record<string, string> {
  return {
    major: String(KUBERNETES_RELEASE.major),
    minor: String(KUBERNETES_RELEASE.minor),
    // As the Node says it: alerts compare it with the control plane's.
    git_version: kubeletVersion(version),
    git_commit: '',
    git_tree_state: '',
    build_date: '',
    // Not Go, but what runs it: dashboards show it as it is.
    go_version: `node ${process.version}`,
    compiler: '',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
