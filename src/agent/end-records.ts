import { isJsonObject } from '../base/json-object.ts';
import type { Logger } from '../base/logger.ts';
import type { PodUid } from '../model/pod.ts';
import type { PodEnd } from '../ports/pod-ends.ts';
import { type StateFiles, versioned } from '../ports/state-files.ts';
import { PodRecords, type RecordsClock } from './reconcile/pod-records.ts';

/** Why the node ended each pod. What a crash loses is decided again. */
export const endRecords = (filesOf: (uid: PodUid) => StateFiles, clock: RecordsClock, log: Logger): PodRecords<PodEnd> =>
  new PodRecords({
    clock,
    filesOf,
    log,
    name: 'end.json',
    what: 'end of a pod',
    lost: 'an agent that starts before may start the pod again',
    decode: versioned(1, decode),
  });

function decode(json: unknown): PodEnd | undefined {
  if (!isJsonObject(json)) return undefined;
  const { reason, message, condition, graceSeconds } = json;
  if (typeof reason !== 'string' || typeof message !== 'string') return undefined;
  if (condition !== undefined && condition !== false && typeof condition !== 'string') return undefined;
  if (graceSeconds !== undefined && typeof graceSeconds !== 'number') return undefined;
  return { reason, message, condition, graceSeconds };
}
