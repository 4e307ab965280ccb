import type { Container, Pod, PodFullName, PodUid } from '../model/pod.ts';
import type { InfeasibleDetail } from '../model/pod-allocations.ts';
import type { ProbeResult } from '../model/probe-result.ts';
import type { PodSummary } from './container-runtime.ts';
import type { EventReason } from './event-recorder.ts';
import type { PullProgress } from './image-service.ts';
import type { PluginHappeningKinds } from './plugin-happenings.ts';
import type { StorageKind, StorageOperated } from './storage-operation.ts';
import type { PodAction, PodPhaseOfLife, ReconcileRecord } from './pod-plan.ts';

/** An engine call has ended. */
export interface EngineCallResult {
  /** "POST /containers/ID/start" */
  readonly what: string;
  readonly tookMs: number;
  /** Undefined when it worked, or was no longer wanted. */
  readonly failed?: 'error' | 'timeout' | undefined;
}

/** A relist has worked. */
export interface RelistResult {
  /** A date. */
  readonly atMs: number;
  readonly tookMs: number;
  /** Between the beginnings of this relist and the one before; undefined for the first. */
  readonly intervalMs: number | undefined;
  readonly pods: readonly PodSummary[];
}

/** A request to the API server has its answer's head, or will never have one. Watches count, too. */
export interface ApiRequestResult {
  readonly method: string;
  /** "https://10.0.0.1:6443" */
  readonly server: string;
  /** Undefined: no answer. */
  readonly status: number | undefined;
  readonly tookMs: number;
}

/** A key of a work queue. */
export interface QueueKey {
  /** "pods" */
  readonly queue: string;
  readonly key: string;
}

/** One verb of the runtime's or the image service's port has ended. */
export interface RuntimeOperation {
  /** As the kubelet names it (pkg/kubelet/kuberuntime/instrumented_services.go): "create_container". */
  readonly operation: string;
  readonly tookMs: number;
  readonly failed: boolean;
}

/** One execution of a probe, also one whose outcome the thresholds do not let through yet. */
export interface ProbeExecuted {
  readonly pod: Pod;
  readonly container: Container['name'];
  readonly kind: 'liveness' | 'readiness' | 'startup';
  readonly result: 'successful' | 'failed' | 'unknown';
  readonly tookMs: number;
  /** What the thresholds make of it. */
  readonly decided?: ProbeResult | undefined;
}

/** One execution of a probe, with what it found; also one that could not be executed, which says nothing about the container. */
export interface ProbeTried {
  readonly uid: PodUid;
  readonly container: Container['name'];
  readonly kind: ProbeExecuted['kind'];
  /** When it began: a date. */
  readonly atMs: number;
  readonly tookMs: number;
  readonly outcome: 'success' | 'warning' | 'failure' | 'unknown' | 'error';
  /** What the probed one answered, or what went wrong. At most 10 KiB. */
  readonly message: string;
}

/** Where the pull of an image for a container stands. Of a pull under way at most one a second. */
export type ImagePulling = {
  readonly uid: PodUid;
  /** "POD": the image of the sandbox. */
  readonly container: string;
  readonly image: string;
} & (
  | { readonly stage: 'waiting'; readonly ahead: number }
  | { readonly stage: 'begun' }
  | ({ readonly stage: 'under way'; readonly msLeft: number | undefined } & PullProgress)
  /** `error`: the last one. `retryAtMs`: a date. */
  | { readonly stage: 'failed' | 'backing off'; readonly attempt: number; readonly error: string; readonly retryAtMs: number }
  | { readonly stage: 'stopped' | 'pulled' }
);

/** A step of a pod has begun: it is under way until the next one begins, or the run ends. */
export interface StepBegun {
  readonly uid: PodUid;
  readonly life: PodPhaseOfLife;
  readonly action: PodAction;
  readonly because: readonly string[];
}

export interface EventRecorded {
  /** Undefined: of something that has none. */
  readonly uid: string | undefined;
  /** "namespace/name", or the name of what has no namespace. */
  readonly object: string;
  readonly container: string | undefined;
  readonly type: 'Normal' | 'Warning';
  readonly reason: EventReason;
  readonly message: string;
}

/** One pod of a manifest, and where it stands there. */
export interface ManifestPod {
  /** "namespace/name", as the node names it. */
  readonly pod: string;
  /** Undefined: it may not run, as it is written. */
  readonly uid: PodUid | undefined;
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
}

/** A file or URL was read, and said something new. */
export interface ManifestRead {
  readonly source: 'file' | 'http';
  /** The path, or the URL without credentials. */
  readonly where: string;
  readonly pods: readonly ManifestPod[];
  /** Why it is refused, or a part of it: "FILE:LINE:COLUMN FIELD: what is wrong". The first few. */
  readonly faults: readonly string[];
  /** What it declared before, which goes on; undefined: nothing. Only where there are faults. */
  readonly keeps: string | undefined;
}

/** An image that was not there, or had to be asked for, was pulled. */
export interface ImagePulled {
  readonly uid: PodUid;
  /** 0: the engine does not say. */
  readonly sizeBytes: number;
  /** The wait for other pulls included. It has ended now. */
  readonly tookMs: number;
}

/** A volume of a pod was made, or found again as it was; those of changing contents are looked at again and again. */
export interface VolumeMounted extends StorageKind {
  /** Containers have it as a device. */
  readonly isDevice?: boolean;
  readonly tookMs: number;
  readonly failed: boolean;
}

/** The node needed its space, or nothing had used it for long. */
export interface ImageRemoved {
  readonly sizeBytes: number;
  readonly reason: 'age' | 'space';
}

/** Whether a pod may use an image that is here, and by what that was decided: as the kubelet's metric names it. */
export type ImageCheck = 'credentialPolicyAllowed' | 'credentialRecordFound' | 'mustAuthenticate' | 'error';

/** What was found of an image that a pod needs, and whether it had to be pulled; undefined: not looked at, or not known. */
export interface ImageEnsured {
  readonly policy: Container['imagePullPolicy'];
  readonly isPresent?: boolean;
  readonly isPullRequired?: boolean;
}

/** Images that a container mounts were there when it was made. */
export interface ImageVolumesShown {
  readonly volumes: number;
  /** One volume may be mounted at several paths. */
  readonly mounts: number;
  /** The runtime could not mount one. */
  readonly failed: boolean;
}

/** One look of /healthz at one of its checks. */
export interface HealthChecked {
  readonly check: string;
  readonly failed: boolean;
}

/** Why resizes that were deferred are tried again, as the kubelet names it (pkg/kubelet/allocation). */
export type ResizeTrigger = 'pod_updated' | 'pods_added' | 'pods_removed' | 'pod_terminated' | 'periodic_retry';

/** A pod is ended because the node is short of something, or because the pod uses more than its own limit. */
export interface PodEvicted {
  readonly uid: PodUid;
  /** "memory.available", "emptydirfs.limit": as the kubelet's metric names it. */
  readonly signal: string;
}

/** A pod was ended to make room for a critical one. */
export interface PodPreempted {
  readonly uid: PodUid;
  /** What was lacking first: "memory". */
  readonly signal: string;
}

/** Dates; undefined: it has not begun, or not ended. */
export interface NodeShutdownTimes {
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
}

export interface PodEnded {
  readonly uid: PodUid;
  /** The name that it held, which another pod may have now; undefined: it held none. */
  readonly freeName: PodFullName | undefined;
}

/** The labels that the kubelet's request metrics have (pkg/kubelet/server/metrics): values of a bounded number. */
export interface RequestLabels {
  readonly method: string;
  /** The route's first part, "containerLogs" or "metrics/cadvisor", or "other": never what a client made up. */
  readonly path: string;
  readonly serverType: 'readwrite' | 'readonly';
  /** exec, attach, port-forward. */
  readonly longRunning: boolean;
}

/** A request to the node's own server. The same object when it has come and when it has ended, streams included. */
export interface ServedRequest {
  readonly labels: RequestLabels;
}

/** What a step is doing between records: the progress of a pull. */
export interface StepNote {
  readonly uid: PodUid;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** As the kubelet's metrics name it. */
export type CgroupOperation = 'create' | 'update' | 'destroy';

/** What a certificate of the node is shown for: to the API server, or by the node's own server. */
export type CertificateUse = 'client' | 'server';

/** A certificate that the agent keeps renewed is in use from now on, in place of the one before. */
export interface CertificateInUse {
  readonly use: CertificateUse;
  /** A date: from then on it is expired. */
  readonly expiresAtMs: number;
}

/** How many CPUs there are for whom, under the static CPU manager. */
export interface CpusAssigned {
  /** Shared, and not reserved: from these containers can have some for themselves. */
  readonly available: number;
  /** By NUMA node: those that are some container's alone. Of each node. */
  readonly exclusive: ReadonlyMap<number, number>;
}

/** Everything that is reported: by its name, with what. */
export interface HappeningKinds extends PluginHappeningKinds {
  /** The engine has listed all its pods. */
  readonly relisted: RelistResult;
  /** A call to the engine has ended. */
  readonly engineCalled: EngineCallResult;
  readonly runtimeOperated: RuntimeOperation;
  /** A request to the API server has its answer's head, or will never have one. Watches count, too. */
  readonly apiRequested: ApiRequestResult;
  /** A request to the API server has waited for the client's own rate limit. */
  readonly apiRequestWaited: { readonly method: string; readonly server: string; readonly waitedMs: number };
  /** What one look at a pod saw, decided and did. */
  readonly reconciled: ReconcileRecord;
  readonly noted: StepNote;
  readonly stepBegun: StepBegun;
  readonly eventRecorded: EventRecorded;
  readonly manifestRead: ManifestRead;
  /** It declares nothing any more. */
  readonly manifestGone: { readonly where: string };
  /** Two manifests declare one pod: the first counts. */
  readonly manifestsCollided: { readonly pod: string; readonly counts: string; readonly ignored: string };
  /** The object that shows a static pod in the API was made right, or could not be. */
  readonly mirrorTried: { readonly name: PodFullName; readonly error: string | undefined };
  /** A pod of the API that is being deleted holds something still: it cannot be taken out of the API yet. */
  readonly reclaimWaits: { readonly uid: PodUid; readonly why: string };
  /** The node's lease was renewed, or could not be. */
  readonly leaseTried: { readonly error: string | undefined };
  /** The key wants a run, and did not before. */
  readonly keyReady: QueueKey;
  readonly keyStarted: QueueKey;
  readonly keyEnded: QueueKey;
  /** The run failed, and the key waits for the next. */
  readonly keyRetried: QueueKey & { readonly inMs: number };
  readonly probeExecuted: ProbeExecuted;
  readonly probeTried: ProbeTried;
  readonly imagePulling: ImagePulling;
  readonly imagePulled: ImagePulled;
  readonly imageRemoved: ImageRemoved;
  readonly imageChecked: ImageCheck;
  readonly imageEnsured: ImageEnsured;
  readonly imageVolumesShown: ImageVolumesShown;
  readonly healthChecked: HealthChecked;
  readonly volumeMounted: VolumeMounted;
  readonly storageOperated: StorageOperated;
  /** What a pod asks for has been given to it, or taken back, after there was no room for it. */
  readonly deferredResizeAccepted: { readonly uid: PodUid; readonly trigger: ResizeTrigger };
  /** What a pod asks for cannot be given to it as it runs. */
  readonly resizeInfeasible: { readonly uid: PodUid; readonly detail: InfeasibleDetail };
  /** Nothing of the pod is left in the engine. May be reported again of the same uid when it comes back. */
  readonly podEnded: PodEnded;
  readonly podEvicted: PodEvicted;
  /** A pod is chosen for eviction by what was measured so long ago. */
  readonly evictionStatsUsed: { readonly signal: string; readonly ageMs: number };
  readonly podPreempted: PodPreempted;
  /** Of the last time that pods ended because the machine went down. */
  readonly nodeShutdown: NodeShutdownTimes;
  /** Only of certificates that the agent itself renews (rotateCertificates, rotateServerCertificates). */
  readonly certificateInUse: CertificateInUse;
  /** The one before was valid for so long, since its notBefore. */
  readonly certificateRenewed: { readonly use: CertificateUse; readonly ageMs: number };
  readonly certificateRenewFailed: { readonly use: CertificateUse };
  /** A cgroup was made, changed or removed, or could not be. */
  readonly cgroupOperated: { readonly operation: CgroupOperation; readonly tookMs: number };
  /** A container asked for CPUs of its own. */
  readonly cpusAsked: { readonly failed: boolean };
  /** A container asked for memory of NUMA nodes chosen for it. */
  readonly memoryAsked: { readonly failed: boolean };
  /** Who has which CPUs has changed, or is known for the first time. */
  readonly cpusAssigned: CpusAssigned;
  /** It was decided from which NUMA nodes a pod is given what it asks for. */
  readonly topologyAligned: { readonly tookMs: number; readonly failed: boolean };
  readonly requestBegun: ServedRequest;
  readonly requestEnded: ServedRequest;
}

/** Reports what happens in the agent to its listeners: metrics, the trace. Never waits and never throws, with or without listeners. */
export type Happenings = { readonly [K in keyof HappeningKinds]: (what: HappeningKinds[K]) => void };
