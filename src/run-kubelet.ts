import { join } from 'node:path';
import { concatMap, EMPTY, map, merge } from 'rxjs';
import { admissionPart } from './admission-part.ts';
import { systemClock } from './base/clock.ts';
import { foldRepeats } from './base/fold-repeats.ts';
import { makeDirectory } from './base/make-directory.ts';
import type { Logger } from './base/logger.ts';
import { runServices } from './base/run-services.ts';
import { version } from './base/version.ts';
import { enginePart } from './engine-part.ts';
import { EventLog } from './events/event-log.ts';
import { eventRecorders } from './events/event-recorders.ts';
import { hostFilesPart } from './host-files-part.ts';
import { imagePart } from './image-part.ts';
import { type Kubelet, kubelet } from './kubelet.ts';
import { lifecyclePart } from './lifecycle-part.ts';
import { metricsPart } from './metrics-part.ts';
import { isShownBy } from './model/mirror-pod.ts';
import type { Node } from './model/node.ts';
import { type Pod, podFullName, type PodStatus } from './model/pod.ts';
import type { PodWake } from './mux/desired-pods.ts';
import type { KubeletOptions, OptionOrigins } from './options/kubelet-options.ts';
import { ManifestObjects } from './objects/manifest-objects.ts';
import { noApi } from './objects/api-for-pods.ts';
import { podObjects } from './objects/pod-objects.ts';
import { networkPart } from './network-part.ts';
import { podLifecycleEvents } from './pleg/pod-lifecycle-events.ts';
import { restartMarks } from './reconcile/restart-marks.ts';
import { PodAdmissions } from './reconcile/pod-admissions.ts';
import { reconcilePart } from './reconcile-part.ts';
import { runOnce } from './run-once.ts';
import { sourcesPart } from './sources-part.ts';
import { PodStatusManager } from './status/status-manager.ts';
import { TraceLog } from './trace/trace-log.ts';
import { orphanSweeper } from './volumes/orphan-sweeper.ts';
import { systemMounts } from './volumes/mounts.ts';
import { podVolumes } from './volumes/pod-volumes.ts';

export interface RunKubeletDeps {
  readonly origins: OptionOrigins;
  readonly log: Logger;
  readonly setVerbosity: (level: number) => void;
}

/** Runs the agent until `signal` aborts, or with --runonce until its pods are up. Resolves with the exit code. */
export async function runKubelet(
  options: KubeletOptions,
  { origins, log, setVerbosity }: RunKubeletDeps,
  signal: AbortSignal,
): Promise<number> {
  const clock = systemClock;
  const { rootDir, nodeName } = options;
  await makeDirectory(rootDir, 0o750).catch((cause: unknown) => {
    throw new Error(`${rootDir} cannot be the root directory (--root-dir)`, { cause });
  });
  const folded = foldRepeats(log, { clock, windowMs: 60_000, subject: ['pod'] });
  // Nobody asks an agent that runs once.
  const metrics = options.runOnce ? undefined : await metricsPart({ clock, nodeName });
  const trace = metrics?.trace(new TraceLog(folded)) ?? new TraceLog(folded);

  // Everything that may never answer, for those who have to look at it.
  const hostFiles = hostFilesPart({ clock, log: folded, stop: signal });

  // Where pods come from, and what is told of them.
  const cluster =
    options.kubeconfig === ''
      ? undefined
      : await (await import('./cluster-part.ts')).clusterPart(options, { clock, log: folded, observer: metrics?.kubelet.api });
  const events = cluster ? eventRecorders(new EventLog(log), cluster.recorder) : new EventLog(log);
  const apiStatusOf = (pod: Pod): PodStatus | undefined => {
    const object = cluster?.source.pods.byName(podFullName(pod));
    return object && isShownBy(pod, object) ? object.status : undefined;
  };
  const statuses = new PodStatusManager({ clock, log, ...(cluster && { apiStatusOf }) });
  const manifestObjects = new ManifestObjects();
  const sources = [
    ...sourcesPart(options, { hostFiles, clock, log, onObjects: (found) => manifestObjects.declare(found) }),
    ...(cluster ? [cluster.source] : []),
  ];

  // Where they run.
  const bareEngine = await enginePart(options, { clock, log, onCall: metrics?.kubelet.engineCalled });
  const engine = metrics?.engine(bareEngine) ?? bareEngine;
  const pleg = podLifecycleEvents({ runtime: engine.runtime, clock, log, ...(metrics && { onRelist: metrics.kubelet.relisted }) });

  // What they are given there.
  const api = cluster?.forPods ?? noApi;
  const objects = podObjects(api.objects, manifestObjects);
  const images = imagePart(options, { clock, log, imageService: engine.imageService, events, objects, trace });
  const node = (): Node | undefined => cluster?.node();
  const admission = await admissionPart(options, { log, node });
  const { allocatable } = admission;
  const { nodeIps, network } = await networkPart(options, { inCluster: cluster !== undefined, events, log: folded });
  const volumes = podVolumes({
    rootDir,
    clock,
    events,
    mounts: systemMounts({ clock, silent: () => hostFiles.silent(), stop: signal }),
    hostFiles,
    factsFor: (pod) => ({ objects: objects.for(pod), tokens: api.tokens, claims: api.claims, allocatable, node }),
  });
  const lifecycle = lifecyclePart({
    clock,
    log,
    events,
    statuses,
    podOf: (uid) => agent.pods.get(uid)?.pod,
    runtime: engine.runtime,
    access: engine.access,
    hostIps: nodeIps,
    previousStatus: (pod) => pod.status ?? apiStatusOf(pod),
    passedProbesPath: join(rootDir, 'passed_probes.json'),
    ...(metrics && { onProbe: metrics.probed, onProbesForgotten: metrics.probesForgotten }),
  });

  // The agent itself.
  const joined = cluster?.join({ engine, pleg, statuses, events, volumes });
  const agent: Kubelet = kubelet({
    clock,
    log,
    sources,
    pleg,
    events,
    wakes: merge(
      objects.changes.pipe(map((uid): PodWake => ({ uid, reason: 'object changed' }))),
      lifecycle.wakes,
      (engine.podsNetwork?.changes ?? EMPTY).pipe(
        concatMap(() => agent.pods.list().map(({ pod }): PodWake => ({ uid: pod.metadata.uid, reason: 'network changed' }))),
      ),
    ),
    ...(joined && { follow: joined.follow }),
    ...(metrics && { observer: metrics.kubelet.workQueue('pods') }),
    reconcile: reconcilePart({
      clock,
      engine,
      images,
      volumes,
      network,
      objects,
      api,
      lifecycle,
      statuses,
      events,
      trace,
      node: { ips: nodeIps, allocatable, admission: new PodAdmissions({ ...admission, inside: () => agent, statuses }) },
      restartMarks: restartMarks(rootDir, folded),
      syncFrequencyMs: options.syncFrequencyMs,
    }),
  });
  // All that the pods need.
  const podPhases = [...(joined?.phases ?? []), engine.podsNetwork?.services(pleg) ?? [], lifecycle.services, ...agent.phases];
  const sweeper = orphanSweeper({
    volumes,
    synced: agent.synced,
    isKnown: async (uid, stop) => {
      if (agent.pods.get(uid) !== undefined) return true;
      const { containers, sandboxes } = await engine.runtime.observePod(uid, stop);
      return containers.length > 0 || sandboxes.length > 0;
    },
    clock,
    log,
  });

  log.info('starting', {
    version: version(),
    node: nodeName,
    engine: options.dockerEndpoint,
    sources: sources.map(({ name }) => name).join(', ') || 'none',
  });
  try {
    if (options.runOnce) return await runOnce({ agent: { ...agent, phases: podPhases }, sources, statuses, clock, log, signal });
    const server =
      metrics &&
      (await (
        await import('./server-part.ts')
      ).serverPart(options, {
        origins,
        clock,
        log: folded,
        pods: agent.pods,
        statuses,
        pleg,
        engine,
        hostFiles,
        metrics: metrics.kubelet,
        addresses: () => node()?.status?.addresses ?? nodeIps.map((address) => ({ type: 'InternalIP', address })),
        setVerbosity,
        cluster: cluster?.served,
      }));
    await runServices([...podPhases, [sweeper, ...engine.services], server ?? []], signal);
  } finally {
    engine.close();
    folded.flush();
  }
  log.info('stopped; the pods stay as they are');
  return 0;
}
