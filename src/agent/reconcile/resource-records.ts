import { isJsonObject } from '../../base/json-object.ts';
import type { Logger } from '../../base/logger.ts';
import type { Allocation } from '../../model/pod-allocations.ts';
import type { PodSpec, PodUid } from '../../model/pod.ts';
import { Quantity } from '../../model/quantity.ts';
import { type StateFiles, versioned } from '../../ports/state-files.ts';
import { PodRecords, type RecordsClock } from './pod-records.ts';

type Requirements = NonNullable<PodSpec['resources']>;
type Amounts = NonNullable<Requirements['limits']>;

/** What of a pod's resources outlives the agent. */
export interface ResourceRecord {
  readonly allocation: Allocation;
  /** By container: what it was made with, or was changed to, last. */
  readonly actuated: ReadonlyMap<string, Requirements>;
}

/** The same as JSON has it. */
interface Saved {
  readonly allocation: { readonly pod?: Requirements; readonly containers: Readonly<Record<string, Requirements>> };
  readonly actuated: Readonly<Record<string, Requirements>>;
}

/**
 * What each pod was given. What is lost or broken lets the pod count as given what it asks for, and its containers as made with what the
 * engine shows.
 */
export class ResourceRecords {
  readonly #records: PodRecords<Saved>;
  /** Those that are written: see `save`. */
  readonly #kept = new Set<PodUid>();

  constructor(filesOf: (uid: PodUid) => StateFiles, clock: RecordsClock, log: Logger) {
    const what = 'resources of a pod';
    this.#records = new PodRecords({
      clock,
      filesOf,
      log,
      name: 'resources.json',
      what,
      lost: 'an agent that starts before uses older ones',
      decode: versioned(1, decode),
    });
  }

  load(uid: PodUid): ResourceRecord | undefined {
    const saved = this.#records.load(uid);
    if (!saved) return undefined;
    this.#kept.add(uid);
    const { pod, containers } = saved.allocation;
    return { allocation: { pod, containers: new Map(Object.entries(containers)) }, actuated: new Map(Object.entries(saved.actuated)) };
  }

  /**
   * Does not wait: what a crash loses is seen in the engine, or done again. Of a pod that was never given anything nothing is written: it
   * cannot be resized, as its QoS class would change.
   */
  save(uid: PodUid, { allocation: { pod, containers }, actuated }: ResourceRecord): void {
    if (!this.#kept.has(uid) && ![pod, ...containers.values(), ...actuated.values()].some(hasAmounts)) return;
    this.#kept.add(uid);
    const allocation = { ...(pod && { pod }), containers: Object.fromEntries(containers) };
    this.#records.save(uid, { allocation, actuated: Object.fromEntries(actuated) });
  }

  /** See PodRecords. */
  settled(uid: PodUid, signal: AbortSignal): Promise<void> {
    return this.#records.settled(uid, signal);
  }

  forget(uid: PodUid): void {
    this.#kept.delete(uid);
    this.#records.forget(uid);
  }
}

function decode(json: unknown): Saved | undefined {
  if (!isJsonObject(json) || !isJsonObject(json['allocation'])) return undefined;
  const { pod, containers } = json['allocation'];
  const { actuated } = json;
  if (pod !== undefined && !isRequirements(pod)) return undefined;
  if (!isEachRequirements(containers) || !isEachRequirements(actuated)) return undefined;
  return { allocation: { ...(pod && { pod }), containers }, actuated };
}

const hasAmounts = (given: Requirements | undefined): boolean =>
  Object.keys(given?.requests ?? {}).length + Object.keys(given?.limits ?? {}).length > 0;

const isEachRequirements = (json: unknown): json is Readonly<Record<string, Requirements>> =>
  isJsonObject(json) && Object.values(json).every(isRequirements);

const isRequirements = (json: unknown): json is Requirements =>
  isJsonObject(json) && [json['requests'], json['limits']].every((list) => list === undefined || isAmounts(list));

function isAmounts(json: unknown): json is Amounts {
  return isJsonObject(json) && Object.values(json).every(isQuantity);
}

function isQuantity(json: unknown): boolean {
  try {
    return json !== null && Quantity.fromJson(json) !== undefined;
  } catch {
    return false;
  }
}
