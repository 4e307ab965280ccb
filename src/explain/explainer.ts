import type { Clock } from '../base/clock.ts';
import type { Explanation, ExplainedOrigin } from '../model/explanation.ts';
import { type Pod, podFullName, type PodUid, showPod } from '../model/pod.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { explainManifests } from './explain-manifest.ts';
import { explainPod } from './explain-pod.ts';
import { engineFault } from './engine-fault.ts';
import type { KnownManifests } from './known-manifests.ts';
import type { KnownPods } from './known-pods.ts';
import { lastLines } from './last-lines.ts';
import type { PodFacts, SeenPod } from './pod-facts.ts';

export interface ExplainerDeps extends Pick<NodeParts, 'pods' | 'engine' | 'pleg' | 'statuses'> {
  readonly clock: Clock;
  readonly known: KnownPods;
  readonly manifests: KnownManifests;
}

/** Of as many pods of one name the logs are read: each asks the engine, and a pod that was often replaced left many behind. */
const MOST_READ = 10;

/** Gathers the facts of pods when somebody asks. */
export interface Explainer {
  /** All pods of this name, declared ones first, then those that went last; and what its manifests say that make none. Reads logs. */
  named(pod: string, signal: AbortSignal): Promise<readonly Explanation[]>;
  /** All pods, and manifests that make none; without what containers wrote. */
  all(): readonly Explanation[];
}

export function explainer({ clock, known, manifests, pods, engine, pleg, statuses }: ExplainerDeps): Explainer {
  const factsOf = (uid: PodUid, lines: PodFacts['lastLines'], engineFault?: string): PodFacts | undefined => {
    const desired = pods.get(uid);
    const seen: SeenPod | undefined =
      known.get(uid) ?? (desired && { pod: showPod(desired.pod), events: [], probes: new Map(), pulls: new Map() });
    if (!seen) return undefined;
    const { healthy, message } = pleg.health();
    const place = desired?.source === 'api' ? undefined : manifests.of(seen.pod, uid);
    return {
      nowMs: clock.now(),
      dateOffsetMs: clock.now() - clock.monotonicMs(),
      uid,
      seen: { ...seen, status: statuses.get(uid) ?? seen.status },
      declared: desired?.pod,
      pod: desired?.pod ?? seen.lastDeclared,
      origin: { ...(desired ? { source: desired.source } : {}), ...place?.origin } satisfies ExplainedOrigin,
      manifestFaults: place?.faults ?? [],
      ignored: place?.ignored ?? [],
      synced: pods.synced,
      engineFault: engineFault ?? (healthy ? undefined : message),
      mirror: desired && desired.source !== 'api' ? known.mirror(podFullName(desired.pod)) : undefined,
      holder: seen.last?.record.life === 'waiting' ? holderOf(uid, seen.pod) : undefined,
      lastLines: lines,
    };
  };

  /** What keeps the pod that has the name. */
  const holderOf = (uid: PodUid, pod: string): string | undefined => {
    const holder = known.uids().find((other) => other !== uid && known.get(other)?.pod === pod && known.get(other)?.goneAtMs === undefined);
    const facts = holder === undefined ? undefined : factsOf(holder, none);
    return facts && explainPod(facts).causes[0]?.text;
  };

  const explained = async (uid: PodUid, engineFault: string | undefined, signal: AbortSignal): Promise<readonly Explanation[]> => {
    const status = statuses.get(uid) ?? known.get(uid)?.status;
    const lines = engineFault === undefined ? await lastLines(status, engine.access, clock, signal) : none;
    const facts = factsOf(uid, lines, engineFault);
    return facts ? [explainPod(facts)] : [];
  };

  const uidsOf = (is: (pod: string) => boolean): readonly PodUid[] => {
    const declared = pods.list().flatMap(({ pod }) => (is(showPod(pod)) ? [pod.metadata.uid] : []));
    const others = known.uids().filter((uid) => pods.get(uid) === undefined && is(known.get(uid)?.pod ?? ''));
    const isGone = (uid: PodUid): number => known.get(uid)?.goneAtMs ?? Number.POSITIVE_INFINITY;
    return [
      ...declared.toSorted((a, b) => ended(pods.get(a)?.pod) - ended(pods.get(b)?.pod)),
      ...others.toSorted((a, b) => isGone(b) - isGone(a)),
    ];
  };

  return {
    async named(wanted, signal) {
      const uids = uidsOf((pod) => pod === wanted);
      const fault = uids.length > 0 ? await engineFault(engine.runtime, clock, signal) : undefined;
      const read = await Promise.all(uids.slice(0, MOST_READ).map((uid) => explained(uid, fault, signal)));
      const others = uids.slice(MOST_READ).flatMap((uid) => factsOf(uid, none, fault) ?? []);
      return [...read.flat(), ...others.map(explainPod), ...explainManifests(manifests).filter(({ pod }) => pod === wanted)];
    },
    all() {
      const uids = uidsOf(() => true);
      return [...uids.flatMap((uid) => factsOf(uid, none) ?? []).map(explainPod), ...explainManifests(manifests)];
    },
  };
}

const none: PodFacts['lastLines'] = new Map();

/** One that is being deleted comes after one of the same name that is not. */
const ended = (pod: Pod | undefined): number => (pod?.metadata.deletionTimestamp === undefined ? 0 : 1);
