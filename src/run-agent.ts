import { Subject } from 'rxjs';
import type { AgentState } from './agent/agent-state.ts';
import { EndedPods } from './agent/ended-pods.ts';
import { endRecords } from './agent/end-records.ts';
import { gather } from './agent/gather.ts';
import { happeningsHub } from './agent/happenings-hub.ts';
import { DesiredPods } from './agent/mux/desired-pods.ts';
import { podLifecycleEvents } from './agent/pleg/pod-lifecycle-events.ts';
import { PodLives } from './agent/reconcile/pod-lives.ts';
import { resizesOnNode } from './agent/resizes-on-node.ts';
import { runOnce } from './agent/run-once.ts';
import { runStages } from './agent/run-stages.ts';
import { PodStatusManager } from './agent/status/status-manager.ts';
import { EntryHub } from './agent/trace/entry-hub.ts';
import { happeningsLog } from './agent/trace/happenings-log.ts';
import { RECONCILE, TraceLog } from './agent/trace/trace-log.ts';
import { Wakes } from './agent/wakes.ts';
import { type AnySignal, anySignal } from './base/any-signal.ts';
import { cgroupFault, cgroupsInShort } from './base/cgroup-hierarchy.ts';
import { foldRepeats } from './base/fold-repeats.ts';
import { type HeardLine, heardLogger } from './base/heard-logger.ts';
import { LiveValue } from './base/live.ts';
import { unlessAborted } from './base/unless-aborted.ts';
import { version } from './base/version.ts';
import { capabilities } from './capabilities.ts';
import { EventLog } from './cluster/events/event-log.ts';
import { toldEvents } from './agent/told-events.ts';
import { eventRecorders } from './cluster/events/event-recorders.ts';
import { kubelet } from './kubelet.ts';
import { isShownBy } from './model/mirror-pod.ts';
import { podFullName } from './model/pod.ts';
import type { PodUpdate } from './model/pod-update.ts';
import type { KubeletOptions, LiveOptions } from './options/kubelet-options.ts';
import type { Capability } from './ports/capability.ts';
import type { Ground, NodeParts } from './ports/node-parts.ts';
import type { Staged } from './ports/staged.ts';
import { LaterTracing } from './ports/tracing.ts';
import type { Surroundings } from './surroundings.ts';

export { capabilities };

/** Runs the agent until `stopped` aborts, or with --runonce until its pods are up. Resolves with the exit code. */
export async function runAgent(
  options: KubeletOptions,
  from: Surroundings,
  stopped: AbortSignal,
  list: readonly Capability[] = capabilities,
): Promise<number> {
  using ending = anySignal(stopped);
  try {
    return await runUntil(options, from, ending, list);
  } catch (error) {
    if (!ending.signal.aborted || error !== ending.signal.reason) throw error;
    from.log.info('stopped before the agent had begun; the pods stay as they are');
    return 0;
  }
}

/** Rejects with the reason of `ending` where it ends before the stages begin, whatever hangs then. */
async function runUntil(options: KubeletOptions, from: Surroundings, ending: AnySignal, list: readonly Capability[]): Promise<number> {
  const { clock, random, logClock = clock } = from;
  const stop = ending.signal;
  const unlessStopped = <T>(work: Promise<T>): Promise<T> => unlessAborted(work, stop);
  // What happens is reported once: to the log, and to all who listen to entries.
  const entries = new EntryHub(logClock, { lastSeq: from.lastSeq(options), ...(options.timelineMaxMib === 0 && { most: 0 }) });
  const hear = (line: HeardLine): void => entries.hear(line);
  const log = heardLogger(from.log, hear);
  const foldedBy = { clock: logClock, windowMs: 60_000, subject: ['pod'] };
  const folded = foldRepeats(log, foldedBy);
  const printed = foldRepeats(from.log.stream(RECONCILE), foldedBy);
  const happenings = happeningsHub(folded);
  const { tell } = happenings;
  happenings.add(happeningsLog(log));
  happenings.add(new TraceLog({ clock, log: folded.stream(RECONCILE), printed, hear }));
  const tracing = new LaterTracing();
  const cgroups = await from.cgroups();
  const live = new LiveValue<LiveOptions>(options);
  const ground: Ground = {
    options,
    live,
    config: {
      read: () => from.config.read(),
      booted: from.config.booted,
      apply: (changed) => live.set(changed),
      restart: () => ending.abort(new Error('the agent is to be started again')),
    },
    clock,
    log,
    folded,
    entries,
    random,
    tell,
    tracing,
    origins: from.origins,
    verbosity: from.verbosity,
    ...(await unlessStopped(from.openDisk(options, folded))),
    hostFiles: from.hostFiles({ clock, log: folded }, stop),
    cgroups,
    memory: await from.memory(cgroups),
  };
  const cluster = await unlessStopped(from.openCluster(options, { ...ground, log: folded.stream('cluster') }));
  happenings.add(cluster.listener);
  const engine = await unlessStopped(from.openEngine(options, { ...ground, log: log.stream('engine') }, stop));
  try {
    // State first: everything below reads it, and only the agent writes.
    const parts = {
      ...ground,
      cluster,
      engine,
      node: await unlessStopped(from.openNode(options, { live, cluster, clock, log: log.stream('node'), cgroups })),
      events: eventRecorders(new EventLog(log.stream('events')), toldEvents(tell), cluster.recorder),
    };
    const state = agentState(parts);
    const { pods, updates, lives, statuses, ends, resizes } = state;
    const node: NodeParts = {
      ...parts,
      pods,
      updates,
      lives,
      statuses,
      allocations: resizes,
      ends,
      objects: from.openObjects(options, { cluster, clock, log: folded.stream('objects'), random }),
      wake: state.wakes.wake,
      pleg: podLifecycleEvents({ runtime: engine.runtime, clock, log: log.stream('pleg'), tell }),
    };
    const given = await unlessStopped(gather(list, options, node, (listener) => happenings.add(listener)));
    tracing.use(given.tracing);
    const besides = from.beside?.(node) ?? [];
    const services = [...cluster.services, ...engine.services(node.pleg), ...given.services, ...kubelet(node, state, given), ...besides];
    const sources = given.sources.map(({ name }) => name).join(', ') || 'none';
    log.info('starting', {
      version: version(),
      node: options.nodeName,
      engine: engine.name,
      cgroups: cgroupsInShort(cgroups),
      sources,
    });
    const fault = cgroupFault(cgroups);
    if (fault !== undefined) log.warn('not all that pods use can be reported', { fault });
    const run = (signal: AbortSignal, ...more: readonly Staged[]): Promise<void> =>
      runStages([...services, ...more], { clock, log, given }, signal);
    if (options.runOnce) return await runOnce({ run, pods, sources: given.sources, statuses, clock, log, signal: stop });
    await run(stop);
  } finally {
    engine.close();
    folded.flush();
    printed.flush();
  }
  log.info('stopped; the pods stay as they are');
  return 0;
}

function agentState(parts: Ground & Pick<NodeParts, 'cluster' | 'node' | 'events'>): AgentState {
  const { clock, log, podFiles, cluster } = parts;
  const { apiPods } = cluster;
  const wakes = new Wakes();
  const pods = new DesiredPods();
  const lives = new PodLives();
  const statuses = new PodStatusManager({
    clock,
    log: log.stream('status'),
    apiStatusOf: (pod) => {
      const object = apiPods.byName(podFullName(pod));
      return object && isShownBy(pod, object) ? object.status : undefined;
    },
  });
  const ends = new EndedPods({ clock, pods, lives, statuses, records: endRecords(podFiles, clock, log), wake: wakes.wake });
  const state = { wakes, pods, updates: new Subject<PodUpdate>(), lives, ends, statuses };
  return { ...state, resizes: resizesOnNode(parts, state) };
}
