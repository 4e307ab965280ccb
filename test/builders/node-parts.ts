import { Verbosity } from '../../src/base/verbosity.ts';
import { Subject } from 'rxjs';
import type { HeardLine } from '../../src/base/heard-logger.ts';
import { CONFIG_SOURCE_ANNOTATION } from '../../src/model/config-annotations.ts';
import { EntryHub } from '../../src/agent/trace/entry-hub.ts';
import { DesiredPods } from '../../src/agent/mux/desired-pods.ts';
import { podLifecycleEvents } from '../../src/agent/pleg/pod-lifecycle-events.ts';
import { noHooks, noManifests, noProbes } from '../../src/agent/gather.ts';
import { noCluster } from '../../src/cluster/no-cluster.ts';
import { embeddedEngine } from '../../src/engines/fake/engine.ts';
import { fakeEngine, type FakeEngineControls } from '../../src/engines/fake/fake-engine.ts';
import type { Node, ResourceList } from '../../src/model/node.ts';
import type { PodUpdate } from '../../src/model/pod-update.ts';
import type { Pod, PodStatus, PodUid, SourceName } from '../../src/model/pod.ts';
import { nodeResources } from '../../src/node/node-resources.ts';
import { openObjects } from '../../src/objects/open-objects.ts';
import type { KubeletOptions, LiveOptions } from '../../src/options/kubelet-options.ts';
import { LiveValue } from '../../src/base/live.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import type { Given } from '../../src/ports/contribution.ts';
import type { NodeParts } from '../../src/ports/node-parts.ts';
import type { PodEnd } from '../../src/ports/pod-ends.ts';
import type { PodStatuses, StatusChange } from '../../src/ports/pod-statuses.ts';
import type { Staged } from '../../src/ports/staged.ts';
import type { StateFiles } from '../../src/ports/state-files.ts';
import { someCgroups, someMemory } from './some-cgroups.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { directHostFiles } from '../fakes/direct-host-files.ts';
import { type Happened, RecordedHappenings } from '../fakes/recorded-happenings.ts';
import { RecordingLogger } from '../fakes/recording-logger.ts';
import { defaultOptions, someOptions } from './some-options.ts';
import { noCsiVolumes } from '../../src/ports/csi-volumes.ts';
import { notTraced } from '../../src/ports/tracing.ts';

export interface RecordedEvent {
  /** Of the pod, or of what else it is about. */
  readonly about: string | undefined;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly container: string | undefined;
}

/** A node's parts without an agent: what was done to them is kept, and what the agent would write, the test writes. */
export interface NodeUnderTest {
  readonly node: NodeParts;
  readonly clock: FakeClock;
  readonly log: RecordingLogger;
  /** Makes it one of the node's entries. */
  readonly hear: (line: HeardLine) => void;
  /** What can be done to the embedded engine behind the capability's back. */
  readonly controls: FakeEngineControls;
  readonly events: readonly RecordedEvent[];
  readonly happened: readonly Happened[];
  readonly ended: ReadonlyMap<PodUid, PodEnd>;
  readonly startedOver: readonly PodUid[];
  /** "UID REASON" of each look at a pod that was asked for. */
  readonly woken: readonly string[];
  /** Its source now declares these besides those before; with none it has spoken, no more. */
  readonly declare: (...pods: readonly Pod[]) => void;
  /** Its source no longer declares them. */
  readonly withdraw: (...pods: readonly Pod[]) => void;
  /** This is the pod's status now. */
  readonly setStatus: (pod: Pod, status: PodStatus) => void;
}

/** What is not given is as on a node "n1" of its own: default options, the embedded engine, no cluster, and a root directory that is not there. */
export function nodeUnderTest(
  over: Partial<Omit<NodeParts, 'options' | 'clock' | 'log' | 'folded'>> & { readonly options?: Partial<KubeletOptions> } = {},
): NodeUnderTest {
  const options = someOptions({ rootDir: '/dev/null/rxlet', ...over.options });
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const random = (): number => 0.5;
  const events: RecordedEvent[] = [];
  const { tell, happened } = new RecordedHappenings();
  const ended = new Map<PodUid, PodEnd>();
  const startedOver: PodUid[] = [];
  const woken: string[] = [];
  const entries = new EntryHub(clock);
  const pods = new DesiredPods();
  const updates = new Subject<PodUpdate>();
  const update = (op: PodUpdate['op'], some: readonly Pod[]): void => {
    const change: PodUpdate = { op, source: sourceOf(some[0]), pods: some };
    pods.expect([sourceOf(some[0])]);
    pods.apply(change);
    updates.next(change);
  };
  const { statuses, setStatus } = someStatuses();
  const embedded = fakeEngine({ clock, log });
  const engine = over.engine ?? embeddedEngine(embedded);
  const cluster = over.cluster ?? withoutCluster;
  const live = new LiveValue<LiveOptions>(options);
  const node: NodeParts = {
    live,
    config: { read: async () => defaultOptions, apply: (changed) => live.set(changed), restart: () => {} },
    origins: defaultOptions.origins,
    random,
    verbosity: new Verbosity(0),
    entries,
    tell,
    tracing: notTraced,
    files: filesInMemory(),
    podFiles: podFilesInMemory(),
    restartMarks: { mark: async () => {}, load: async () => new Map() },
    hostFiles: directHostFiles,
    cgroups: someCgroups,
    memory: someMemory,
    engine,
    node: aNode(options.nodeName),
    events: {
      record: (about, type, reason, message, container) => {
        const name = 'metadata' in about ? about.metadata.name : about.name;
        events.push({ about: name, type, reason, message, container });
      },
    },
    pods,
    updates,
    lives: { isHeld: () => false, wasFound: () => false },
    statuses,
    allocations: { allocationOf: () => undefined },
    objects: openObjects(options, { cluster, clock, log, random }),
    wake: (uid, reason) => void woken.push(`${uid} ${reason}`),
    ends: {
      end: (uid, end) => {
        if (!ended.has(uid)) ended.set(uid, end);
      },
      of: (uid) => ended.get(uid),
      startOver: (uid) => void startedOver.push(uid),
    },
    pleg: podLifecycleEvents({ runtime: engine.runtime, clock, log, tell }),
    ...over,
    options,
    clock,
    log,
    folded: log,
    cluster,
  };
  return {
    node,
    clock,
    log,
    hear: (line) => entries.hear(line),
    controls: embedded.controls,
    events,
    happened,
    ended,
    startedOver,
    woken,
    declare: (...some) => update('ADD', some),
    withdraw: (...some) => update('REMOVE', some),
    setStatus,
  };
}

/** Runs what a capability contributes, all stages at once. `stop` resolves when all have ended, and rejects where one failed. */
export function runServices(services: readonly Staged[] = [], given: Given = nothingGiven): { readonly stop: () => Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = services.map(async (service) => {
    try {
      await service.run(signal, given);
    } catch (error) {
      if (!signal.aborted || error !== signal.reason) throw error;
    }
  });
  return {
    stop: async () => {
      stopping.abort(new Error('the test stops the services'));
      await Promise.all(running);
    },
  };
}

/** For services that ask nothing of the other capabilities. */
export const nothingGiven: Given = {
  sources: [],
  participants: [],
  node: [],
  reclaim: [],
  routes: [],
  metricTexts: [],
  services: [],
  hints: [],
  assigned: [],
  plugins: [],
  csi: noCsiVolumes,
  images: { ensureImage: () => Promise.reject(new Error('nothing pulls images here')), presentImage: async () => undefined },
  probes: noProbes,
  hooks: noHooks,
  volumeFiles: { read: async () => undefined },
  manifests: noManifests,
  stats: {
    node: () => Promise.reject(new Error('nothing is measured here')),
    pods: () => Promise.reject(new Error('nothing is measured here')),
  },
  tracing: notTraced,
};

/** A node that no API server knows. */
export const withoutCluster: Cluster = noCluster(defaultOptions.options, {
  clock: new FakeClock(),
  log: new RecordingLogger(),
  tell: new RecordedHappenings().tell,
  random: () => 0.5,
});

export function aNode(name: string): NodeParts['node'] {
  const allocatable: ResourceList = { cpu: '4', memory: '8Gi', pods: '110' };
  const initial: Node = { metadata: { name, labels: { 'kubernetes.io/hostname': name } } };
  const address = '10.0.0.1';
  return {
    name,
    ips: [address],
    initial,
    known: () => ({ ...initial, status: { allocatable } }),
    addresses: () => [{ type: 'InternalIP', address }],
    resources: nodeResources({ ofMachine: undefined, shown: () => ({ status: { capacity: allocatable, allocatable } }) }),
  };
}

function someStatuses(): { readonly statuses: PodStatuses; readonly setStatus: (pod: Pod, status: PodStatus) => void } {
  const known = new Map<PodUid, { readonly pod: Pod; readonly status: PodStatus }>();
  const changes = new Subject<StatusChange>();
  const setStatus = (pod: Pod, status: PodStatus): void => {
    const previous = known.get(pod.metadata.uid)?.status;
    known.set(pod.metadata.uid, { pod, status });
    changes.next({ pod, status, previous });
  };
  const statuses: PodStatuses = {
    get: (uid) => known.get(uid)?.status,
    changes,
    before: (pod) => pod.status,
    adopt: () => {},
    amend: (uid, change) => {
      const of = known.get(uid);
      if (of) setStatus(of.pod, change(of.pod, of.status));
    },
  };
  return { statuses, setStatus };
}

export function filesInMemory(): StateFiles {
  const texts = new Map<string, string>();
  return {
    open: (name, decode) => ({
      load: () => {
        const text = texts.get(name);
        return text === undefined ? undefined : decode(JSON.parse(text), 1);
      },
      save: async (value) => void texts.set(name, JSON.stringify(value)),
    }),
  };
}

export function podFilesInMemory(): NodeParts['podFiles'] {
  const known = new Map<PodUid, StateFiles>();
  return (uid) => {
    const files = known.get(uid) ?? filesInMemory();
    known.set(uid, files);
    return files;
  };
}

/** As the mux notes it on each pod. */
const sourceOf = (pod: Pod | undefined): SourceName => (pod?.metadata.annotations?.[CONFIG_SOURCE_ANNOTATION] ?? 'api') as SourceName;
