import type { PodUid } from '../../../src/model/pod.ts';
import { handlerWithoutUsers, idSlots, type IdRange, readSavedIds } from '../../../src/model/user-namespace.ts';
import { IdRanges } from '../../../src/usernamespaces/id-ranges.ts';

interface In {
  readonly op: 'make' | 'pod' | 'file';
  readonly mappingFirst: number;
  readonly mappingLength: number;
  readonly idsPerPod?: number;
  readonly maxPods?: number;
  readonly hostUsers?: boolean;
  readonly runtimeHandler?: string;
  readonly handlers?: Readonly<Record<string, boolean>>;
  readonly content?: string;
}

export function run(input: In): unknown {
  try {
    return answer(input);
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function answer({ op, mappingFirst: first, mappingLength: length, idsPerPod = 65_536, maxPods = 0, ...rest }: In): unknown {
  const slots = idSlots({ first, length }, idsPerPod, maxPods);
  if (op === 'make') return slots;
  const ranges = new IdRanges(slots, idsPerPod);
  const pod = 'pod' as PodUid;
  if (op === 'file') {
    const saved = readSavedIds(rest.content ?? '');
    ranges.record(pod, saved);
    return { hostID: saved.first, length: saved.length };
  }
  if (rest.hostUsers !== false) return { mode: 'NODE', uids: 0, gids: 0 };
  const handlers = Object.entries(rest.handlers ?? {}).map(([name, userNamespaces]) => ({ name, userNamespaces }));
  const refusal = handlerWithoutUsers(handlers, rest.runtimeHandler ?? '');
  if (refusal !== undefined) throw new Error(refusal);
  const [given, again]: [IdRange, IdRange] = [ranges.of(pod), ranges.of(pod)];
  const aligned = given.first % given.length === 0 && given.first >= first && given.first + given.length <= first + length;
  const same = given.first === again.first && given.length === again.length;
  return { mode: 'POD', uids: 1, gids: 1, containerID: 0, length: given.length, aligned, same };
}
