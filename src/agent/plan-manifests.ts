import { basename } from 'node:path';
import type { PlannedChanges, PlannedPod } from '../model/planned-changes.ts';
import type { Pod } from '../model/pod.ts';
import type { DeclaredManifests } from '../ports/declared-manifests.ts';
import { actuatedAsDeclared, observedAsDeclared } from './reconcile/as-declared.ts';
import { plannedObject } from './reconcile/planned-objects.ts';
import { plannedPod, type PodThatRuns } from './reconcile/planned-pod.ts';

/**
 * What would become of the pods of `before`, which are taken to run as they are declared, if `after` took its place: a whole directory in
 * place of all of it, a file in place of what a file of its name, or a pod or object of its names, declared. What has faults takes no pod
 * away, as for the file source. `seen` knows better where pods do not run as they are declared. Pure.
 */
export function planManifests(before: DeclaredManifests, after: DeclaredManifests, seen: SeenPods = asDeclaredPods): PlannedChanges {
  const { pods: newPods, objects: newObjects } = countingAfter(before, after);
  const pods = namesIn(before.pods, newPods).map((name) => {
    const [old, now] = [before.pods.get(name), newPods.get(name)];
    return {
      pod: name,
      file: (now ?? old)?.file ?? '',
      ...plannedPod(old && (seen.running(old.pod) ?? asDeclared(old.pod)), now?.pod, now && seen.given(now.pod)),
    };
  });
  const refused = after.refused.flatMap(({ file, pods: names, faults }) => {
    const kept = [...before.pods].filter(([, old]) => basename(old.file) === basename(file)).map(([name]) => name);
    return [...new Set([...names, ...kept])].map((name) => refusal(name, file, faults.length, before.pods.has(name)));
  });
  const refusedNames = new Set(refused.map(({ pod }) => pod));
  const shown = new Map([...newPods].map(([name, { pod }]) => [name, pod]));
  const objects = namesIn(before.objects, newObjects).flatMap((name) => {
    const [old, now] = [before.objects.get(name), newObjects.get(name)];
    const planned = plannedObject(old?.object, now?.object, shown);
    return planned ? [{ ...planned, file: (now ?? old)?.file ?? '' }] : [];
  });
  return { pods: [...pods.filter(({ pod }) => !refusedNames.has(pod)), ...refused].sort((a, b) => (a.pod < b.pod ? -1 : 1)), objects };
}

/** What is known of the pods besides their manifests. */
export interface SeenPods {
  /** Undefined: it is taken to run as it is declared. */
  readonly running: (pod: Pod) => PodThatRuns | undefined;
  /** The pod as it is to be with what it would be given of the node's resources. */
  readonly given: (pod: Pod) => Pod;
}

const asDeclaredPods: SeenPods = { running: () => undefined, given: (pod) => pod };

/** What would count of both together. */
export function countingAfter(before: DeclaredManifests, after: DeclaredManifests): Pick<DeclaredManifests, 'pods' | 'objects'> {
  const stays = staysAfter(after);
  return { pods: merged(before.pods, after.pods, stays), objects: merged(before.objects, after.objects, stays) };
}

const namesIn = (before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].sort();

/** Whether something of the old manifests is there afterwards, where nothing new has its name. */
function staysAfter(after: DeclaredManifests): (part: { readonly file: string }) => boolean {
  const files = new Set([...after.pods.values(), ...after.objects.values()].map(({ file }) => basename(file)));
  const faulty = new Set([...after.refused, ...after.unreadable].map(({ file }) => basename(file)));
  return ({ file }) => faulty.has(basename(file)) || !(after.isWhole || files.has(basename(file)));
}

/** What counts afterwards: what is new, and what of the old stays. */
const merged = <T>(before: ReadonlyMap<string, T>, after: ReadonlyMap<string, T>, stays: (part: T) => boolean): ReadonlyMap<string, T> =>
  new Map([...[...before].filter(([, part]) => stays(part)), ...after]);

const refusal = (pod: string, file: string, faults: number, runs: boolean): PlannedPod => ({
  pod,
  file,
  consequence: 'refused',
  containers: [],
  because: [`its manifest has ${faults === 1 ? 'a fault' : `${faults} faults`}: ${runs ? 'what runs stays as it is' : 'nothing starts'}`],
  changes: [],
  moreChanges: 0,
});

function asDeclared(pod: Pod): PodThatRuns {
  return {
    pod,
    given: pod,
    observed: observedAsDeclared(pod),
    facts: {
      nowMs: 0,
      life: 'syncing',
      restartHold: () => undefined,
      liveness: () => 'success',
      startup: () => 'success',
      actuated: actuatedAsDeclared(pod),
    },
  };
}
