import { BehaviorSubject, ReplaySubject, share, tap } from 'rxjs';
import { chance } from './base/chance.ts';
import type { Clock } from './base/clock.ts';
import type { Logger } from './base/logger.ts';
import { version } from './base/version.ts';
import { nodeFromOptions } from './admission-part.ts';
import { apiProjections } from './api-projections.ts';
import { clusterCredentials } from './cluster-credentials.ts';
import type { EnginePart } from './engine-part.ts';
import { apiEvents } from './events/api-events.ts';
import type { Kubelet, KubeletParts } from './kubelet.ts';
import { kubeClients } from './kube/kube-clients.ts';
import type { Node } from './model/node.ts';
import { nodeReference } from './model/object-reference.ts';
import { podFullName } from './model/pod.ts';
import { collectNodeFacts } from './node/collect-node-facts.ts';
import { parseNodeIps } from './node/ip-address.ts';
import { NodeLease } from './node/node-lease.ts';
import { goArch } from './node/node-info.ts';
import { NodeStatusReporter } from './node/node-status-reporter.ts';
import type { NodeErrors } from './node/node-conditions.ts';
import { runtimeErrors } from './node/runtime-errors.ts';
import type { ApiForPods } from './objects/api-for-pods.ts';
import { claimReader } from './objects/claim-reader.ts';
import { objectStore } from './objects/object-store.ts';
import { ServiceList } from './objects/service-list.ts';
import { TokenManager } from './objects/token-manager.ts';
import type { KubeletOptions } from './options/kubelet-options.ts';
import type { PodLifecycleEvents } from './pleg/pod-lifecycle-events.ts';
import type { EventRecorder } from './ports/event-recorder.ts';
import type { ResourceEvent, WatchedObject } from './ports/kube-api.ts';
import type { ApiObserver } from './ports/observers.ts';
import type { ServedCluster } from './server-part.ts';
import { type ApiSource, apiSource } from './sources/api-source.ts';
import type { PodStatusManager } from './status/status-manager.ts';
import type { PodVolumes } from './volumes/pod-volumes.ts';

/** The cluster's side of the agent, before the parts that it follows are there. */
export interface ClusterPart {
  readonly source: ApiSource;
  /** Never waits for the API server. */
  readonly recorder: EventRecorder;
  readonly forPods: ApiForPods;
  /** This node as the API server shows it; undefined while it is not known. */
  readonly node: () => Node | undefined;
  /** What the node's own server asks of the cluster. */
  readonly served: ServedCluster;
  /** Joins the rest: this node in the API, and the pods as the API shows them. */
  join(parts: JoinedParts): JoinedCluster;
}

export interface JoinedParts {
  readonly engine: EnginePart;
  readonly pleg: PodLifecycleEvents;
  readonly statuses: PodStatusManager;
  readonly events: EventRecorder;
  readonly volumes: Pick<PodVolumes, 'remain'>;
}

export interface JoinedCluster {
  /** Started before the pods' own services: credentials and events, then the node. */
  readonly phases: Kubelet['phases'];
  readonly follow: NonNullable<KubeletParts['follow']>;
}

export interface ClusterPartDeps {
  /** Told of each request. */
  readonly observer?: ApiObserver | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Rejects with an error for people when the kubeconfig cannot be used as it is. */
export async function clusterPart(options: KubeletOptions, { clock, log, observer }: ClusterPartDeps): Promise<ClusterPart> {
  const { nodeName, nodeLeaseDurationSeconds, nodeStatusUpdateFrequencyMs } = options;
  const { clients, service: credentials } = await clusterCredentials(options, {
    clock,
    log,
    open: (access) =>
      kubeClients({
        access,
        clock,
        log,
        main: { qps: options.kubeApiQps, burst: options.kubeApiBurst },
        events: { qps: options.eventQps, burst: options.eventBurst },
        heartbeatTimeoutMs: Math.min(nodeLeaseDurationSeconds * 1000, nodeStatusUpdateFrequencyMs),
        ...(observer && { observer }),
        userAgent: `rxlet/${version()} (linux/${goArch(process.arch)})`,
      }),
  });
  const source = apiSource({ informer: clients.informer, nodeName, log });
  const sink = apiEvents({ clock, log, api: clients.events, nodeName, random: chance });

  const objects = objectStore(options.configMapAndSecretChangeDetectionStrategy, { clients, clock });
  const services = new ServiceList({ informer: clients.informer, clock });
  const tokens = new TokenManager({ api: clients.main, clock, log, random: chance });

  const claims = claimReader(clients.main);
  const node = new BehaviorSubject<Node | undefined>(undefined);

  const join = ({ engine, pleg, statuses, events, volumes }: JoinedParts): JoinedCluster => {
    const initial = nodeFromOptions(options);
    const nodes = clients.informer<WatchedObject & Node>({ path: '/api/v1/nodes', fieldSelector: `metadata.name=${nodeName}` }).pipe(
      tap((event) => node.next(nodeOf(event))),
      share({ connector: () => new ReplaySubject(1) }),
    );
    const errors = (): NodeErrors => {
      const fault = engine.networkFault();
      return { runtime: runtimeErrors(pleg.health()), network: fault === undefined ? [] : [fault] };
    };
    const reporter = new NodeStatusReporter({
      clock,
      log,
      api: clients.heartbeat,
      nodeName,
      initial: options.registerNode ? initial : undefined,
      facts: collectNodeFacts({
        clock,
        log,
        settings: {
          nodeName,
          hostname: nodeName,
          nodeIps: parseNodeIps(options.nodeIp),
          externalCloudProvider: false,
          maxPods: options.maxPods,
          podsPerCore: options.podsPerCore,
          nodeStatusMaxImages: options.nodeStatusMaxImages,
          rootDir: options.rootDir,
          kubeletPort: options.port,
          release: version(),
          arch: process.arch,
        },
        reservation: {},
        images: (signal) => engine.imageService.listImages(signal),
        containerRuntimeVersion: async (signal) => {
          const { name, version: engineVersion } = await engine.runtime.info(signal);
          return `${name}://${engineVersion}`;
        },
        errors,
      }),
      errors,
      wakes: pleg.relists,
      nodes,
      record: ({ type, reason, message }) => events.record(nodeReference(nodeName), type, reason, message),
      updateFrequencyMs: nodeStatusUpdateFrequencyMs,
      reportFrequencyMs: options.nodeStatusReportFrequencyMs,
      random: chance,
    });
    const lease = new NodeLease({ clock, log, api: clients.heartbeat, nodeName, leaseDurationSeconds: nodeLeaseDurationSeconds });
    events.record(nodeReference(nodeName), 'Normal', 'Starting', 'Starting kubelet.');
    return {
      phases: [
        [credentials, sink.sink, services, objects],
        [reporter, lease],
      ],
      follow: apiProjections({
        clock,
        log,
        api: clients.main,
        apiPods: source.pods,
        statuses,
        runtime: engine.runtime,
        volumes,
        node,
        onEnded: (uid) => sink.sink.forget(uid),
      }),
    };
  };
  const served: ServedCluster = {
    api: clients.reviews,
    csr: () => ({ api: clients.main, informer: clients.informer }),
    mirrorUidOf: (pod) => source.pods.byName(podFullName(pod))?.metadata.uid,
  };
  const forPods: ApiForPods = { objects, tokens, claims, servicesFor: (pod, signal) => services.for(pod, signal) };
  return { source, recorder: sink.recorder, forPods, node: () => node.value, served, join };
}

function nodeOf(event: ResourceEvent<Node>): Node | undefined {
  if (event.kind === 'reset') return event.items[0];
  return event.kind === 'put' ? event.item : undefined;
}
