import type { PlannedPod } from '../../src/model/planned-changes.ts';

/** What became of a pod, in a plan's words. */
export type Happened = Pick<PlannedPod, 'consequence' | 'containers'>;

interface Action {
  readonly do: string;
  readonly name?: string;
  readonly error?: string | undefined;
}

/**
 * What an agent's actions say that became of the pods of one name. `wereRunning`: containers of it that ran before; `isSamePod`: its uid is the
 * one that it had.
 */
export function whatHappened(
  actions: readonly Action[],
  { wereRunning, isSamePod }: { readonly wereRunning: readonly string[]; readonly isSamePod: boolean },
): Happened {
  const done = actions.filter(({ error }) => error === undefined);
  const namesOf = (kind: 'startContainer' | 'stopContainer' | 'updateContainer'): readonly string[] =>
    [...new Set(done.flatMap((action) => (action.do === kind ? (action.name ?? []) : [])))].toSorted();
  const [starts, stops, updates] = [namesOf('startContainer'), namesOf('stopContainer'), namesOf('updateContainer')];
  const isEnd = ({ do: kind }: Action): boolean => kind === 'stopContainer' || kind === 'stopSandbox';
  const made = done.findIndex(({ do: kind }) => kind === 'runSandbox');
  // What was made may end by itself later.
  if (made >= 0) return { consequence: done.slice(0, made).some(isEnd) ? 'recreate' : 'start', containers: [] };
  const ends = done.some(isEnd);
  const restarts = stops.filter((name) => starts.includes(name));
  if (restarts.length > 0) return { consequence: 'restart', containers: restarts };
  if (ends) return { consequence: 'stop', containers: isSamePod && wereRunning.some((name) => !stops.includes(name)) ? stops : [] };
  if (starts.length > 0) return { consequence: 'start', containers: starts };
  return updates.length > 0 ? { consequence: 'in place', containers: updates } : { consequence: 'nothing', containers: [] };
}

/** A plan says more than can be seen: a pod that changes in place, is refused, or goes when it has ended already is not touched. */
export function asSeen({ consequence, containers, because }: Happened & Pick<PlannedPod, 'because'>): Happened {
  const isInPlace = consequence === 'in place' && containers.length === 0;
  const isUnseen = consequence === 'refused' || isInPlace || because.includes('nothing of it runs');
  return { consequence: isUnseen ? 'nothing' : consequence, containers: containers.toSorted() };
}
