import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { inAdmissionOrder } from '../model/admission-order.ts';
import { CONFIG_SOURCE_ANNOTATION } from '../model/config-annotations.ts';
import { isTerminalPhase } from '../model/pod-predicates.ts';
import { isStaticPod } from '../model/mirror-pod.ts';
import type { PlannedChanges, PlannedPod } from '../model/planned-changes.ts';
import { type Pod, podFullName, type PodUid, showPod } from '../model/pod.ts';
import { parseTime } from '../model/time.ts';
import type { Given } from '../ports/contribution.ts';
import type { DeclaredManifests } from '../ports/declared-manifests.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { countingAfter, planManifests } from './plan-manifests.ts';
import { plannedEnd, PlannedRoom } from './planned-room.ts';
import { actuatedAsDeclared } from './reconcile/as-declared.ts';
import { PodParticipants } from './reconcile/pod-participants.ts';
import type { PodThatRuns } from './reconcile/planned-pod.ts';

/** The engine is asked about so many pods at a time. */
const PARALLEL_LOOKS = 8;
/** Fields of all pods together; the rest is counted. */
const MOST_CHANGES = 5_000;

/**
 * What would become of this node's pods if `after` took the place of what its manifest directory declares now, `before`. Looks, and changes
 * nothing: pods are observed in the engine where something is to change, and whether they would find room is asked of all who say that by
 * looking.
 */
export async function planOnNode(
  node: NodeParts,
  given: Pick<Given, 'participants' | 'probes'>,
  { before, after }: { readonly before: DeclaredManifests; readonly after: DeclaredManifests },
  signal: AbortSignal,
): Promise<PlannedChanges> {
  const then = countingAfter(before, after);
  const room = new PlannedRoom(node, new PodParticipants(given.participants, node.clock), activePods(node));
  // A resize that waits may find room, whether or not its own manifest is edited.
  const touched = [...before.pods].filter(
    ([name, { pod }]) => !isDeepStrictEqual(pod, then.pods.get(name)?.pod) || room.allocated(pod) !== pod,
  );
  const running = await looks(
    node,
    given,
    touched.map(([, { pod }]) => ({ pod, given: room.allocated(pod) })),
    signal,
  );
  const gone = touched.flatMap(([name, { pod }]) => (then.pods.get(name)?.pod.metadata.uid === pod.metadata.uid ? [] : [pod.metadata.uid]));
  room.leave(gone);
  for (const [name] of touched) {
    const now = then.pods.get(name)?.pod;
    if (now) room.resize(asOfFile(now));
  }
  const changes = planManifests(before, after, {
    running: ({ metadata: { uid } }) => running.get(uid),
    given: (pod) => room.allocated(pod),
  });
  const begins = [...then.pods].filter(([name, { pod }]) => before.pods.get(name)?.pod.metadata.uid !== pod.metadata.uid);
  const byFile = new Map(
    begins.toSorted(([, a], [, b]) => (basename(a.file) < basename(b.file) ? -1 : 1)).map(([name, { pod }]) => [pod, name]),
  );
  for (const pod of inAdmissionOrder([...byFile.keys()])) await room.admit(asOfFile(pod), signal);
  const { pods, objects } = room.judged(changes, then.pods);
  return bounded({ pods: [...pods, ...givingWay(node, [...byFile.keys()])], objects });
}

/** What the mux would add: static pods are critical to the node. */
const asOfFile = (pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, [CONFIG_SOURCE_ANNOTATION]: 'file' } },
});

/** A static pod comes before a pod of the API that has its name. */
function givingWay({ pods }: Pick<NodeParts, 'pods'>, begins: readonly Pod[]): readonly PlannedPod[] {
  return begins.flatMap((pod) =>
    pods
      .named(podFullName(pod))
      .flatMap((other): readonly PlannedPod[] =>
        isStaticPod(other)
          ? []
          : [plannedEnd(showPod(other), '', `it gives way to ${showPod(pod)} of the manifest directory, which has its name`)],
      ),
  );
}

/** Declared, by whatever source, and not over: as admission counts them. */
function activePods({ pods, statuses }: Pick<NodeParts, 'pods' | 'statuses'>): readonly Pod[] {
  return pods.list().flatMap(({ pod }) => (isTerminalPhase((statuses.get(pod.metadata.uid) ?? pod.status)?.phase) ? [] : [pod]));
}

async function looks(
  { engine, statuses, clock }: NodeParts,
  { probes }: Pick<Given, 'probes'>,
  pods: readonly { readonly pod: Pod; readonly given: Pod }[],
  signal: AbortSignal,
): Promise<ReadonlyMap<PodUid, PodThatRuns>> {
  const found = new Map<PodUid, PodThatRuns>();
  const look = async ({ pod, given }: (typeof pods)[number]): Promise<void> => {
    const { uid } = pod.metadata;
    const observed = await engine.runtime.observePod(uid, signal);
    const status = statuses.get(uid);
    const startedAtMs = parseTime(status?.startTime);
    found.set(uid, {
      pod,
      given,
      observed,
      facts: {
        nowMs: clock.monotonicMs(),
        life: 'syncing',
        // Later is a restart, too.
        restartHold: () => undefined,
        liveness: (id) => probes.liveness(id),
        startup: (id) => probes.startup(id),
        phase: status?.phase,
        ageMs: startedAtMs === undefined ? undefined : clock.now() - startedAtMs,
        actuated: actuatedAsDeclared(given),
      },
    });
  };
  for (let at = 0; at < pods.length; at += PARALLEL_LOOKS) await Promise.all(pods.slice(at, at + PARALLEL_LOOKS).map(look));
  return found;
}

function bounded({ pods, objects }: PlannedChanges): PlannedChanges {
  let left = MOST_CHANGES;
  return {
    objects,
    pods: pods.map((pod) => {
      const changes = pod.changes.slice(0, left);
      left -= changes.length;
      return { ...pod, changes, moreChanges: pod.moreChanges + pod.changes.length - changes.length };
    }),
  };
}
