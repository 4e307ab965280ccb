import type { AssignedResources } from './assigned-resources.ts';
import type { ContainerHooks } from './container-hooks.ts';
import type { ContainerProbes } from './container-probes.ts';
import type { CsiVolumes } from './csi-volumes.ts';
import type { Happenings } from './happenings.ts';
import type { ImagePuller } from './image-puller.ts';
import type { MetricText } from './metric-text.ts';
import type { NodeManifests } from './node-manifests.ts';
import type { NodeParticipant, Reclaimer } from './node-participant.ts';
import type { PluginHandler } from './plugin-handler.ts';
import type { PodParticipant } from './pod-participant.ts';
import type { PodSource } from './pod-source.ts';
import type { PodStats } from './pod-stats.ts';
import type { Route } from './route.ts';
import type { Staged } from './staged.ts';
import type { TopologyHintProvider } from './topology-hint-provider.ts';
import type { Tracing } from './tracing.ts';
import type { VolumeFiles } from './volume-files.ts';

/** What one capability adds to the agent. */
export interface Contribution {
  readonly sources?: readonly PodSource[];
  readonly pod?: PodParticipant;
  readonly node?: NodeParticipant;
  readonly reclaim?: readonly Reclaimer[];
  /** Of the node's server. */
  readonly routes?: readonly Route[];
  /** Parts of what the node's server answers at /metrics. */
  readonly metricTexts?: readonly MetricText[];
  /** Hears what happens from the moment it was contributed. */
  readonly listener?: Partial<Happenings>;
  readonly services?: readonly Staged[];
  /** From which NUMA nodes it could give containers what they ask for. */
  readonly hints?: TopologyHintProvider;
  /** What containers have for themselves of what it gives. */
  readonly assigned?: AssignedResources;
  /** Of plugins that register on the node. */
  readonly plugins?: readonly PluginHandler[];
  /** One for each agent: the last capability that has one gives it. */
  readonly images?: ImagePuller;
  readonly probes?: ContainerProbes;
  readonly hooks?: ContainerHooks;
  readonly volumeFiles?: VolumeFiles;
  readonly csi?: CsiVolumes;
  readonly manifests?: NodeManifests;
  readonly stats?: PodStats;
  readonly tracing?: Tracing;
}

/** All contributions together, in the list's order. */
export interface Given {
  readonly sources: readonly PodSource[];
  /** With the name of the capability, for errors. */
  readonly participants: readonly { readonly name: string; readonly pod: PodParticipant }[];
  readonly node: readonly NodeParticipant[];
  readonly reclaim: readonly Reclaimer[];
  readonly routes: readonly Route[];
  readonly metricTexts: readonly MetricText[];
  readonly services: readonly Staged[];
  readonly hints: readonly TopologyHintProvider[];
  readonly assigned: readonly AssignedResources[];
  readonly plugins: readonly PluginHandler[];
  readonly images: ImagePuller;
  readonly probes: ContainerProbes;
  readonly hooks: ContainerHooks;
  readonly volumeFiles: VolumeFiles;
  readonly csi: CsiVolumes;
  readonly manifests: NodeManifests;
  readonly stats: PodStats;
  readonly tracing: Tracing;
}
