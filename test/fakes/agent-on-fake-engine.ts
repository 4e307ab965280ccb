import { Verbosity } from '../../src/base/verbosity.ts';
import { BehaviorSubject, filter, map, NEVER, type Observable, Subject } from 'rxjs';
import { Backoff } from '../../src/base/backoff.ts';
import type { Clock } from '../../src/base/clock.ts';
import { type Logger, silentLogger } from '../../src/base/logger.ts';
import { apiSource } from '../../src/cluster/pods/api-source.ts';
import { embeddedEngine } from '../../src/engines/fake/engine.ts';
import { fakeEngine, type FakeEngine } from '../../src/engines/fake/fake-engine.ts';
import { imageManager } from '../../src/images/image-manager.ts';
import { PullQueue } from '../../src/images/pull-queue.ts';
import * as mirror from '../../src/mirror/capability.ts';
import { isCriticalPod } from '../../src/model/critical-pod.ts';
import type { NodeUse } from '../../src/model/node-use.ts';
import type { Node } from '../../src/model/node.ts';
import { fitPod } from '../../src/model/fit-pod.ts';
import type { PodRefusal } from '../../src/model/pod-admission.ts';
import type { Pod, SourceName } from '../../src/model/pod.ts';
import type { KubeletOptions } from '../../src/options/kubelet-options.ts';
import { openObjects } from '../../src/objects/open-objects.ts';
import * as objects from '../../src/objects/capability.ts';
import type { Capability } from '../../src/ports/capability.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import type { Contribution } from '../../src/ports/contribution.ts';
import type { Informer, KubeApi } from '../../src/ports/kube-api.ts';
import type { NodeParts } from '../../src/ports/node-parts.ts';
import type { OutOfDate, PodParticipant } from '../../src/ports/pod-participant.ts';
import type { ReconcileRecord } from '../../src/ports/pod-plan.ts';
import type { PodStatuses, StatusChange } from '../../src/ports/pod-statuses.ts';
import * as probes from '../../src/probes/capability.ts';
import { runAgent } from '../../src/run-agent.ts';
import type { Surroundings } from '../../src/surroundings.ts';
import { aNode, filesInMemory, podFilesInMemory, withoutCluster } from '../builders/node-parts.ts';
import { someCgroups, someMemory } from '../builders/some-cgroups.ts';
import { defaultOptions, someOptions, unchangedConfig } from '../builders/some-options.ts';
import { directHostFiles } from './direct-host-files.ts';
import { FakeClock } from './fake-clock.ts';

export interface AgentOnFakeEngine {
  readonly clock: FakeClock;
  readonly engine: FakeEngine;
  readonly statuses: PodStatuses;
  readonly records: readonly ReconcileRecord[];
  readonly events: readonly RecordedEvent[];
  /** Says what the manifests are from now on. */
  declare(pods: readonly Pod[]): void;
  /** Stops the agent, and leaves the engine as it is. */
  stop(): Promise<void>;
  /** Stops the agent and the engine: no timer is left. */
  close(): Promise<void>;
}

export interface RecordedEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** The API server that the agent joins, and its Node there. */
export interface ClusterOfAgent {
  readonly api: Pick<KubeApi, 'request'>;
  readonly informer: Informer;
  readonly nodeName: string;
  readonly node: Observable<Node | undefined>;
  readonly judge?: (pod: Pod, others: NodeUse) => PodRefusal | undefined;
}

interface Parts {
  readonly clock: Clock;
  readonly engine: FakeEngine;
  readonly cluster?: ClusterOfAgent | undefined;
  /** Who declares the pods: the node's own files by default, whose pods are critical to it. */
  readonly source?: SourceName | undefined;
  /** This node, as it is now; nothing is known of it by default. */
  readonly node?: (() => Node) | undefined;
  /** What a pod's volumes cannot be brought up to date for. */
  readonly outOfDate?: ((pod: Pod) => OutOfDate | undefined) | undefined;
  /** What agents before this one have kept of pods; nothing by default. */
  readonly podFiles?: NodeParts['podFiles'] | undefined;
  /** Hears what is logged; nothing by default. */
  readonly log?: Logger | undefined;
  readonly options?: Partial<KubeletOptions> | undefined;
  /** How it is run: as it is by default. */
  readonly run?: typeof runAgent | undefined;
  /** More that it can do. */
  readonly capabilities?: readonly Capability[] | undefined;
}

/** The whole agent with a shorter list of capabilities, on the embedded engine and a clock that moves when told. Until the first `declare` its source has not spoken. */
export function agentOnFakeEngine(over: Partial<Parts & { readonly clock: FakeClock }> = {}): AgentOnFakeEngine {
  const clock = over.clock ?? new FakeClock();
  const engine = over.engine ?? fakeEngine({ clock, log: silentLogger });
  const started = startAgent({ ...over, clock, engine });
  const stop = async (): Promise<void> => {
    const stopped = started.stop();
    await clock.advance(0);
    await stopped;
  };
  return {
    ...started,
    clock,
    engine,
    stop,
    close: async () => {
      await stop();
      engine.controls.close();
    },
  };
}

/** The same on any clock. */
export function startAgent(parts: Parts): Pick<AgentOnFakeEngine, 'statuses' | 'records' | 'events' | 'declare' | 'stop'> {
  const snapshots = new BehaviorSubject<readonly Pod[] | undefined>(undefined);
  const records: ReconcileRecord[] = [];
  const events: RecordedEvent[] = [];
  const changes = new Subject<StatusChange>();
  let node: NodeParts | undefined;
  const list: readonly Capability[] = [
    always('declared pods', (parts_) => {
      node = parts_;
      parts_.statuses.changes.subscribe(changes);
      return {
        sources: [{ name: parts.source ?? 'file', snapshots: snapshots.pipe(filter((pods) => pods !== undefined)) }],
        pod: participant(parts),
        images: unlimitedImages(parts_),
        listener: { reconciled: (record) => void records.push(record) },
      };
    }),
    always('probes', probes.capability),
    ...(parts.cluster ? [always('objects', objects.capability), always('mirror', mirror.capability)] : []),
    ...(parts.capabilities ?? []),
  ];
  const stopping = new AbortController();
  const done = (parts.run ?? runAgent)(
    someOptions({ nodeName: 'n1', rootDir: '/dev/null/rxlet', ...parts.options }),
    surroundings(parts, events),
    stopping.signal,
    list,
  );
  // Who stops the agent hears of it.
  done.catch(() => {});
  const started = (): NodeParts => {
    if (!node) throw new Error('the agent has not begun yet: let the clock advance first');
    return node;
  };
  return {
    // The agent begins with the first moment that the clock moves.
    statuses: {
      get: (uid) => node?.statuses.get(uid),
      changes,
      before: (pod) => started().statuses.before(pod),
      adopt: (uid, before) => started().statuses.adopt(uid, before),
      amend: (uid, change) => started().statuses.amend(uid, change),
    },
    records,
    events,
    declare: (pods) => snapshots.next(pods),
    stop: async () => {
      stopping.abort(new Error('the test stops the agent'));
      await done;
    },
  };
}

export const always = (name: string, capability: (node: NodeParts) => Contribution | Promise<Contribution>): Capability => ({
  name,
  wanted: () => true,
  load: async () => ({ capability }),
});

function participant({ cluster, outOfDate, node }: Parts): PodParticipant {
  return {
    admit: async (pod, others) => {
      const known = node?.();
      const refusal = known?.status ? fitPod({ pod, otherPods: others, node: known }) : cluster?.judge?.(pod, others);
      // Room is made by the node's own capability.
      return refusal?.lacking && isCriticalPod(pod) ? undefined : refusal;
    },
    prepare: async (pod) => outOfDate?.(pod),
    sandbox: async ({ metadata }) => ({ hostname: metadata.name }),
  };
}

/** Nothing limits pulls, and nothing of the machine's registries is looked at. */
function unlimitedImages({ engine, events, clock, log, tell, tracing }: NodeParts): Contribution['images'] & {} {
  return imageManager({
    images: engine.images,
    events,
    clock,
    log,
    tell,
    tracing,
    keyring: { lookup: async () => [] },
    pulls: new PullQueue({ images: engine.images, limiter: undefined, maxParallelPulls: () => undefined }),
    backoff: new Backoff({ clock, baseMs: 10_000, maxMs: 300_000 }),
    pullSecrets: async () => [],
  });
}

function surroundings(
  { clock, engine, cluster, node = () => ({}), podFiles = podFilesInMemory(), log = silentLogger }: Parts,
  events: RecordedEvent[],
): Surroundings {
  return {
    clock,
    log,
    random: () => 0.5,
    origins: defaultOptions.origins,
    verbosity: new Verbosity(0),
    config: unchangedConfig,
    lastSeq: () => 0,
    openDisk: async () => ({ files: filesInMemory(), podFiles, restartMarks: { mark: async () => {}, load: async () => new Map() } }),
    hostFiles: () => directHostFiles,
    cgroups: async () => someCgroups,
    memory: async () => someMemory,
    openCluster: async (_options, { log }) => ({
      ...(cluster ? clusterOf(cluster, log) : withoutCluster),
      recorder: { record: (_about, type, reason, message) => void events.push({ type, reason, message }) },
    }),
    // As it is: a test may look at what is asked of it, and let that fail.
    openEngine: async () => ({ ...embeddedEngine(engine), close: () => {} }),
    openNode: async (options, { cluster: joined }) => ({ ...aNode(options.nodeName), ips: [], known: () => joined.node() ?? node() }),
    openObjects,
  };
}

function clusterOf({ api, informer, nodeName, node }: ClusterOfAgent, log: NodeParts['log']): Cluster {
  const source = apiSource({ informer, nodeName, log });
  const door: KubeApi = { request: (request, signal) => api.request(request, signal), closeConnections: () => {} };
  let latest: Node | undefined;
  const nodeChanges = node.pipe(map((now) => (latest = now)));
  return {
    ...withoutCluster,
    exists: true,
    clients: { main: door, events: door, heartbeat: door, reviews: door, informer },
    sources: [source],
    apiPods: source.pods,
    nodes: NEVER,
    node: () => latest,
    nodeChanges,
  };
}
