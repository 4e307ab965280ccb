import { BehaviorSubject, filter, type Observable } from 'rxjs';
import { apiProjections } from '../../src/api-projections.ts';
import type { Clock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { runServices } from '../../src/base/run-services.ts';
import { fakeEngine, type FakeEngine } from '../../src/fakeengine/fake-engine.ts';
import { imageManager } from '../../src/images/image-manager.ts';
import { Backoff } from '../../src/base/backoff.ts';
import { PullQueue } from '../../src/images/pull-queue.ts';
import { type Kubelet, kubelet } from '../../src/kubelet.ts';
import { lifecyclePart } from '../../src/lifecycle-part.ts';
import type { MirrorOwner } from '../../src/mirror/mirror-pod-actions.ts';
import { isShownBy } from '../../src/model/mirror-pod.ts';
import type { NodeUse } from '../../src/model/node-use.ts';
import type { PodRefusal } from '../../src/model/pod-admission.ts';
import { type Pod, podFullName, type PodStatus } from '../../src/model/pod.ts';
import { noApi } from '../../src/objects/api-for-pods.ts';
import { podObjects } from '../../src/objects/pod-objects.ts';
import { podLifecycleEvents } from '../../src/pleg/pod-lifecycle-events.ts';
import type { EventRecorder } from '../../src/ports/event-recorder.ts';
import type { Informer, KubeApi } from '../../src/ports/kube-api.ts';
import type { ReconcileRecord } from '../../src/ports/pod-plan.ts';
import { PodAdmissions } from '../../src/reconcile/pod-admissions.ts';
import { reconcilePart } from '../../src/reconcile-part.ts';
import { apiSource } from '../../src/sources/api-source.ts';
import { PodStatusManager } from '../../src/status/status-manager.ts';
import type { OutOfDate } from '../../src/volumes/pod-volumes.ts';
import { FakeClock } from './fake-clock.ts';

export interface AgentOnFakeEngine {
  readonly clock: FakeClock;
  readonly engine: FakeEngine;
  readonly statuses: PodStatusManager;
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
  readonly node: Observable<MirrorOwner | undefined>;
  readonly judge?: (pod: Pod, others: NodeUse) => PodRefusal | undefined;
}

/** The whole agent but for manifest files, on the embedded engine and a clock that moves when told. Until the first `declare` its source has not spoken. */
export function agentOnFakeEngine(
  over: {
    readonly clock?: FakeClock;
    readonly engine?: FakeEngine;
    readonly cluster?: ClusterOfAgent;
    /** What a pod's volumes cannot be brought up to date for. */
    readonly outOfDate?: (pod: Pod) => OutOfDate | undefined;
  } = {},
): AgentOnFakeEngine {
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
export function startAgent(over: {
  readonly clock: Clock;
  readonly engine: FakeEngine;
  readonly cluster?: ClusterOfAgent;
  readonly outOfDate?: (pod: Pod) => OutOfDate | undefined;
}): Pick<AgentOnFakeEngine, 'statuses' | 'records' | 'events' | 'declare' | 'stop'> {
  const { clock, engine } = over;
  const log = silentLogger;
  const api = over.cluster && apiSource({ ...over.cluster, log });
  const apiStatusOf = (pod: Pod): PodStatus | undefined => {
    const object = api?.pods.byName(podFullName(pod));
    return object && isShownBy(pod, object) ? object.status : undefined;
  };
  const statuses = new PodStatusManager({ clock, log, apiStatusOf });
  const told: RecordedEvent[] = [];
  const events: EventRecorder = {
    record: (_, type, reason, message) => void told.push({ type, reason, message }),
  };
  const records: ReconcileRecord[] = [];
  const trace = { record: (record: ReconcileRecord) => void records.push(record), note: () => {} };
  const snapshots = new BehaviorSubject<readonly Pod[] | undefined>(undefined);
  const lifecycle = lifecyclePart({
    clock,
    log,
    events,
    statuses,
    podOf: (uid): Pod | undefined => pods.get(uid)?.pod,
    runtime: engine.runtime,
    access: engine.access,
    hostIps: [],
    previousStatus: (pod) => pod.status ?? apiStatusOf(pod),
    random: () => 0.5,
  });
  const judge = over.cluster?.judge;
  const { phases, pods, wasFound }: Kubelet = kubelet({
    clock,
    log,
    sources: [{ name: 'file', snapshots: snapshots.pipe(filter((pods) => pods !== undefined)) }, ...(api ? [api] : [])],
    ...(over.cluster && api
      ? {
          follow: apiProjections({
            ...over.cluster,
            clock,
            log,
            apiPods: api.pods,
            statuses,
            runtime: engine.runtime,
            volumes: { remain: async () => false },
          }),
        }
      : {}),
    pleg: podLifecycleEvents({ runtime: engine.runtime, clock, log }),
    events,
    wakes: lifecycle.wakes,
    reconcile: reconcilePart({
      clock,
      engine: {
        runtime: engine.runtime,
        imageService: engine.images,
        access: engine.access,
        running: { list: async () => [], stale: () => {} },
        dataDirectory: async () => undefined,
        networkFault: () => undefined,
        missingSandboxImage: () => undefined,
        services: [],
        close: () => {},
      },
      images: imageManager({
        images: engine.images,
        events,
        clock,
        log,
        keyring: { lookup: async () => [] },
        trace,
        pulls: new PullQueue({ images: engine.images, limiter: undefined, maxParallelPulls: undefined }),
        backoff: new Backoff({ clock, baseMs: 10_000, maxMs: 300_000 }),
        pullSecrets: async () => [],
      }),
      volumes: {
        prepare: async (pod) => over.outOfDate?.(pod),
        mountsFor: async () => [],
        tearDown: async () => {},
        remove: async () => {},
        remain: async () => false,
        sweep: async () => ({ removed: [], failed: new Map() }),
      },
      network: {
        sandbox: async ({ metadata }) => ({ hostname: metadata.name }),
        hostsMounts: async () => [],
        checkNodeFile: async () => {},
      },
      objects: podObjects(noApi.objects, noApi.objects),
      api: noApi,
      statuses,
      lifecycle,
      events,
      trace,
      syncFrequencyMs: 60_000,
      node: {
        ips: [],
        allocatable: () => ({}),
        admission: judge && new PodAdmissions({ judge, statuses, inside: () => ({ pods, wasFound }) }),
      },
      random: () => 0.5,
    }),
  });
  const stopping = new AbortController();
  const done = runServices([lifecycle.services, ...phases], stopping.signal);
  return {
    statuses,
    records,
    events: told,
    declare: (pods) => snapshots.next(pods),
    stop: async () => {
      stopping.abort(new Error('the test stops the agent'));
      await done;
    },
  };
}
