import { concat, defer, from, mergeMap, type Observable, Subject } from 'rxjs';
import { drainInto } from '../base/drain-into.ts';
import { type Moment, momentOf } from '../base/moment.ts';
import type { Service } from '../base/service.ts';
import { type ContainerId, containerIdOf } from '../model/container-id.ts';
import { isSidecar } from '../model/pod-predicates.ts';
import type { Container, Pod, PodStatus, PodUid } from '../model/pod.ts';
import type { ProbeResult } from '../model/probe-result.ts';
import { parseTime } from '../model/time.ts';
import type { PassedProbesFile } from './passed-probes-file.ts';
import { type ProbeKind, probeKinds, probeOf } from './probe-kind.ts';
import { ProbeResults } from './probe-results.ts';
import { containerStatus, type ProbeRecord, ProbeWorker, type ProbeWorkerDeps } from './probe-worker.ts';

export interface ProbeManagerDeps extends Omit<ProbeWorkerDeps, 'results'> {
  /** From 0 up to 1: spreads the first probes after a start of the agent. */
  readonly random: () => number;
  /** Keeps over a restart of the agent what has passed. */
  readonly file: PassedProbesFile | undefined;
  /** What was last reported of the pod, maybe by another agent: what was ready there stays ready until it is probed. */
  readonly previousStatus: (pod: Pod) => PodStatus | undefined;
}

/** One line of the table of probes. */
export interface ProbeRow {
  readonly container: string;
  readonly kind: ProbeKind;
  readonly state: ProbeWorker['state'];
  readonly containerId: ContainerId | undefined;
  readonly result: ProbeResult | undefined;
  /** How often the last outcome has come in a row. */
  readonly run: number;
  /** After a failure, until there is another container. */
  readonly onHold: boolean;
  /** Oldest first. */
  readonly history: readonly ProbeRecord[];
}

/** Containers that the agent has not asked about so long after its start are gone. */
const UNCLAIMED_AFTER_MS = 300_000;

/**
 * Runs the probes of pods that come and go: one worker a container and kind of probe (pkg/kubelet/prober). Results go by container id.
 * Each method may be called again with the same pod at any time.
 */
export class ProbeManager implements Service {
  readonly name = 'probes';
  readonly #deps: ProbeManagerDeps;
  readonly #results = new ProbeResults();
  readonly #pods = new Map<PodUid, Map<string, ProbeWorker>>();
  /** Containers of which a status was reported before the pod was seen here: not all of them have every probe. */
  readonly #recalled = new Map<PodUid, readonly ContainerId[]>();
  readonly #added = new Subject<ProbeWorker>();
  readonly #began: Moment;

  /** Pods to look at again, because of a probe. Hot. */
  readonly changes: Observable<PodUid> = this.#results.changes;

  constructor(deps: ProbeManagerDeps) {
    this.#deps = deps;
    this.#began = momentOf(deps.clock);
    if (deps.file) this.#results.restore(deps.file.load());
  }

  liveness(id: ContainerId): ProbeResult | undefined {
    return this.#results.get('liveness', id);
  }
  readiness(id: ContainerId): ProbeResult | undefined {
    return this.#results.get('readiness', id);
  }
  startup(id: ContainerId): ProbeResult | undefined {
    return this.#results.get('startup', id);
  }

  /** The pod runs here, as declared now: its probes begin, and those that it no longer declares end. */
  follow(pod: Pod): void {
    const { uid, deletionTimestamp } = pod.metadata;
    let workers = this.#pods.get(uid);
    if (workers === undefined) {
      this.#recall(pod);
      this.#pods.set(uid, (workers = new Map()));
    }
    const wanted = new Map(probesOf(pod).map((each) => [`${each.container.name}/${each.kind}`, each]));
    for (const [key, worker] of workers) {
      const now = wanted.get(key);
      if (now && sameProbe(now.probe, worker.probe)) {
        worker.declared(pod);
        wanted.delete(key);
      } else {
        worker.dispose();
        workers.delete(key);
      }
    }
    for (const [key, { kind, container, probe }] of wanted) {
      const worker = new ProbeWorker({ ...this.#deps, results: this.#results }, kind, pod, container, probe);
      workers.set(key, worker);
      this.#added.next(worker);
    }
    if (deletionTimestamp !== undefined) this.ending(uid);
  }

  /** This is the pod's status now: what has just started need not wait for its turn to be found ready. */
  reported(uid: PodUid, status: PodStatus): void {
    for (const worker of this.#pods.get(uid)?.values() ?? []) {
      if (worker.kind !== 'readiness') continue;
      const container = containerStatus(status, worker.container.name);
      if (container?.started && container.state?.running && container.containerID) worker.started(container);
    }
  }

  /** The pod is being ended: nothing restarts it any more, and readiness alone is still of interest (StopLivenessAndStartup in pkg/kubelet/prober). */
  ending(uid: PodUid): void {
    for (const worker of this.#pods.get(uid)?.values() ?? []) if (worker.kind !== 'readiness') worker.stop();
  }

  /** The pod has ended. Succeeds when it is not known. */
  forget(uid: PodUid): void {
    for (const worker of this.#pods.get(uid)?.values() ?? []) worker.dispose();
    this.#pods.delete(uid);
    this.#results.dropRestored(this.#recalled.get(uid) ?? []);
    this.#recalled.delete(uid);
  }

  /** Each probe of the pod with what it found lately. */
  table(uid: PodUid): readonly ProbeRow[] {
    return [...(this.#pods.get(uid)?.values() ?? [])].map(({ container: { name }, kind, state, containerId, run, onHold, history }) => {
      const result = containerId && this.#results.get(kind, containerId);
      return { container: name, kind, state, containerId, result, run, onHold, history: [...history] };
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, file } = this.#deps;
    const known = defer(() => from([...this.#pods.values()].flatMap((workers) => [...workers.values()])));
    const probing = concat(known, this.#added).pipe(mergeMap((worker) => worker.probing(this.#firstDelayMs(worker))));
    const unclaimed = clock.schedule(() => this.#results.forgetUnclaimed(), UNCLAIMED_AFTER_MS);
    try {
      await Promise.all([drainInto(probing, () => {}, signal), file?.follow(this.#results, signal)]);
    } finally {
      unclaimed.unsubscribe();
    }
  }

  /** After a start of the agent the probes of what runs already must not come all at once. */
  #firstDelayMs({ probe: { periodSeconds = 10 }, pod }: ProbeWorker): number {
    const { clock, statusOf, random } = this.#deps;
    const beganAtMs = parseTime(statusOf(pod.metadata.uid)?.startTime);
    const ranBefore = beganAtMs !== undefined && beganAtMs < this.#began.dateMs;
    return ranBefore && clock.monotonicMs() - this.#began.monotonicMs < periodSeconds * 1000 ? random() * periodSeconds * 1000 : 0;
  }

  #recall(pod: Pod): void {
    const { containerStatuses = [], initContainerStatuses = [] } = this.#deps.previousStatus(pod) ?? {};
    const running = [...containerStatuses, ...initContainerStatuses].filter(({ state, containerID }) => state?.running && containerID);
    if (running.length === 0) return;
    const ids = (some: typeof running): readonly ContainerId[] => some.map(({ containerID = '' }) => containerIdOf(containerID));
    this.#recalled.set(pod.metadata.uid, ids(running));
    this.#results.restore({ readiness: ids(running.filter(({ ready }) => ready)), startup: ids(running.filter(({ started }) => started)) });
  }
}

interface DeclaredProbe {
  readonly container: Container;
  readonly kind: ProbeKind;
  readonly probe: ProbeWorker['probe'];
}

/** Of app containers and sidecars: what only initializes is not probed. */
function probesOf({ spec }: Pod): readonly DeclaredProbe[] {
  return [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)].flatMap((container) =>
    probeKinds.flatMap((kind) => {
      const probe = probeOf(container, kind);
      return probe ? [{ container, kind, probe }] : [];
    }),
  );
}

function sameProbe(a: ProbeWorker['probe'], b: ProbeWorker['probe']): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
