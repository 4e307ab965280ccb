import { boundedCounts } from '../base/bounded-counts.ts';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { SerialByKey } from '../base/serial-by-key.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import type { Container, Pod, PodUid } from '../model/pod.ts';
import type { AssignedClaim } from '../ports/assigned-resources.ts';
import type { HappeningKinds, Happenings } from '../ports/happenings.ts';
import { callDriver } from './call-driver.ts';
import type { ClaimEntry, DriverState } from './claim-checkpoint.ts';
import type { ClaimsInUse } from './claims-in-use.ts';
import { type ClaimStore, keyOf } from './claim-store.ts';
import type { DraPlugins } from './dra-plugins.ts';
import { isFor } from './prepared-device.ts';
import type { ResourceApi } from './resource-api.ts';
import { claimsOf, claimsUsedBy, driversFor, hasClaims } from './resource-claim.ts';

export interface PodClaimsDeps {
  readonly api: Pick<ResourceApi, 'claim'>;
  readonly plugins: Pick<DraPlugins, 'get'>;
  readonly store: ClaimStore;
  /** Of this boot of the machine: what was prepared in another is prepared again. */
  readonly bootId: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly tell: Pick<Happenings, 'claimsHandled'>;
}

/** A claim as the pod may use it. */
interface Wanted {
  readonly uid: string;
  readonly name: string;
  readonly drivers: readonly string[];
}

/**
 * Pods' claims are prepared by the drivers of their devices before the pods begin, once for all pods that use them, and unprepared when the last
 * of these has ended (pkg/kubelet/cm/dra Manager). What may have been prepared is on the disk before a driver is asked. One thing at a time is
 * done to a claim; no claim waits for another one.
 */
export class PodClaims {
  readonly #deps: PodClaimsDeps;
  readonly #claims = new SerialByKey<string>();

  constructor(deps: PodClaimsDeps) {
    this.#deps = deps;
  }

  /** Whether there is nothing to prepare. */
  isPrepared(pod: Pod): boolean {
    if (!hasClaims(pod)) return true;
    try {
      return claimsOf(pod).every(({ name }) => {
        const entry = this.#deps.store.get(pod.metadata.namespace, name);
        return entry?.podUids.has(pod.metadata.uid) === true && [...entry.drivers.values()].every((state) => this.#isPrepared(state));
      });
    } catch {
      return false;
    }
  }

  /** Rejects in the kubelet's words. */
  async prepare(pod: Pod, signal: AbortSignal): Promise<void> {
    if (!hasClaims(pod)) return;
    await this.#told('PrepareResources', signal, async () => {
      const wanted = await this.#wantedBy(pod, signal);
      const { namespace } = pod.metadata;
      await this.#alone(
        wanted.map(({ name }) => keyOf(namespace, name)),
        signal,
        () => this.#prepare(pod, wanted, signal),
      );
    });
  }

  /** The CDI names of what the container uses. Throws where that is not prepared. */
  cdiDevicesOf(pod: Pod, container: Container): readonly string[] {
    const { namespace } = pod.metadata;
    return claimsUsedBy(pod, container).flatMap(({ name, request }) => {
      const entry = this.#deps.store.get(namespace, name);
      if (entry === undefined)
        throw new Error(`internal error: unable to get claim info for ResourceClaim ${name} in namespace ${namespace}`);
      const devices = [...entry.drivers.values()].flatMap((state) => state.devices);
      return devices.filter((device) => isFor(device, request)).flatMap(({ cdiDeviceIds }) => cdiDeviceIds);
    });
  }

  /** What the container uses; nothing where that is not prepared. */
  assignedTo(pod: Pod, container: Container): readonly AssignedClaim[] {
    const { namespace } = pod.metadata;
    if (!this.isPrepared(pod)) return [];
    return claimsUsedBy(pod, container).map(({ name, request }) => {
      const drivers = [...(this.#deps.store.get(namespace, name)?.drivers ?? [])];
      const devices = drivers.flatMap(([driver, state]) =>
        state.devices
          .filter((device) => isFor(device, request))
          .map(({ poolName, deviceName, cdiDeviceIds }) => ({ driver, pool: poolName, device: deviceName, cdiDevices: cdiDeviceIds })),
      );
      return { name, namespace, devices };
    });
  }

  /** Those that are prepared, by whatever driver they have devices of. */
  inUse(): ClaimsInUse {
    const { store } = this.#deps;
    const prepared = store.all().filter(({ drivers }) => [...drivers.values()].every((state) => this.#isPrepared(state)));
    return { all: prepared.length, byDriver: boundedCounts(prepared.flatMap(({ drivers }) => [...drivers.keys()])) };
  }

  /** Succeeds where the pod has no claims. Rejects in the kubelet's words; what has been unprepared by then is not unprepared again. */
  async unprepare(uid: PodUid, signal: AbortSignal): Promise<void> {
    const { store } = this.#deps;
    const keys = store.ofPod(uid).map(({ namespace, name }) => keyOf(namespace, name));
    if (keys.length > 0) {
      await this.#told('UnprepareResources', signal, () => this.#alone(keys, signal, () => this.#unprepare(uid, signal)));
      return;
    }
    // What cannot be written may be what is about to go.
    await store.retry().catch((error: unknown) => {
      signal.throwIfAborted();
      throw failed('UnprepareResources', error);
    });
  }

  /** As the work, and tells how it went, unless it was given up. */
  async #told(operation: Operation, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const { clock, tell } = this.#deps;
    const begunAtMs = clock.monotonicMs();
    const ended = (isFailed: boolean): void => tell.claimsHandled({ operation, tookMs: clock.monotonicMs() - begunAtMs, failed: isFailed });
    try {
      await work();
    } catch (error) {
      signal.throwIfAborted();
      ended(true);
      throw failed(operation, error);
    }
    ended(false);
  }

  /** Checks all of the pod's claims, and changes nothing: a pod that fails here can be deleted whatever the drivers do. */
  async #wantedBy(pod: Pod, signal: AbortSignal): Promise<readonly Wanted[]> {
    const wanted: Wanted[] = [];
    for (const named of claimsOf(pod)) {
      const claim = await this.#deps.api.claim(pod.metadata.namespace, named.name, signal);
      const drivers = driversFor(pod, claim, named);
      for (const driver of drivers) this.#deps.plugins.get(driver);
      wanted.push({ uid: claim.metadata?.uid ?? '', name: named.name, drivers });
    }
    return wanted;
  }

  async #prepare(pod: Pod, wanted: readonly Wanted[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { store } = this.#deps;
    const entries = this.#noted(pod, wanted);
    await saved(store, 'cache');
    const batches = batched(entries, (state) => !this.#isPrepared(state));
    if (batches.size === 0) return;
    try {
      await allOf([...batches].map(([driver, claims]) => this.#prepareBy(driver, claims, signal)));
    } finally {
      await saved(store, 'state');
    }
  }

  /** Notes which claims the pod uses, before any driver hears of it. */
  #noted(pod: Pod, wanted: readonly Wanted[]): readonly ClaimEntry[] {
    const { store } = this.#deps;
    const { namespace, uid: podUid } = pod.metadata;
    for (const { uid, name } of wanted) {
      const before = store.get(namespace, name);
      if (before !== undefined && before.uid !== uid)
        throw new Error(
          `old ResourceClaim with same name ${name} and different UID ${before.uid} still exists (previous pod force-deleted?!)`,
        );
    }
    return wanted.map(({ uid, name, drivers }) => {
      const entry = store.get(namespace, name) ?? store.add({ uid, name, namespace, podUids: new Set(), drivers: new Map() });
      entry.podUids.add(podUid);
      for (const driver of drivers) if (!entry.drivers.has(driver)) entry.drivers.set(driver, { devices: [], preparedIn: undefined });
      return entry;
    });
  }

  async #prepareBy(driver: string, claims: readonly ClaimEntry[], signal: AbortSignal): Promise<void> {
    const plugin = this.#deps.plugins.get(driver);
    await callDriver(
      'NodePrepareResources',
      claims,
      (asked) => plugin.prepare(asked, signal),
      (claim, devices) => {
        claim.drivers.set(driver, { devices, preparedIn: this.#deps.bootId });
      },
    );
  }

  async #unprepare(uid: PodUid, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { store } = this.#deps;
    const last: ClaimEntry[] = [];
    for (const entry of store.ofPod(uid)) {
      // Until the last one has ended it is known whose it was: the next agent goes on with that.
      if (entry.podUids.size > 1) entry.podUids.delete(uid);
      else last.push(entry);
    }
    try {
      const batches = batched(last, () => true);
      await allOf([...batches].map(([driver, claims]) => this.#unprepareBy(driver, claims, signal)));
    } finally {
      for (const entry of last) if (entry.drivers.size === 0) store.delete(entry);
      await saved(store, 'state');
    }
  }

  async #unprepareBy(driver: string, claims: readonly ClaimEntry[], signal: AbortSignal): Promise<void> {
    const plugin = this.#deps.plugins.get(driver);
    await callDriver(
      'NodeUnprepareResources',
      claims,
      (asked) => plugin.unprepare(asked, signal),
      (claim) => {
        claim.drivers.delete(driver);
      },
    );
  }

  #isPrepared({ preparedIn }: DriverState): boolean {
    return preparedIn === this.#deps.bootId;
  }

  /** In the order of the claims' names, so that two who need the same ones never wait for each other. */
  #alone(claims: readonly string[], signal: AbortSignal, task: () => Promise<void>): Promise<void> {
    const inner = claims.toSorted().reduceRight((next, key) => () => this.#claims.run(key, next), task);
    return unlessAborted(inner(), signal);
  }
}

type Operation = HappeningKinds['claimsHandled']['operation'];

/** In the kubelet's words. */
const failed = (operation: Operation, cause: unknown): Error =>
  new Error(`${operation === 'PrepareResources' ? 'prepare' : 'unprepare'} dynamic resources: ${errorText(cause)}`, { cause });

function batched(entries: readonly ClaimEntry[], isToDo: (state: DriverState) => boolean): ReadonlyMap<string, readonly ClaimEntry[]> {
  const batches = new Map<string, ClaimEntry[]>();
  for (const entry of entries)
    for (const [driver, state] of entry.drivers) if (isToDo(state)) batches.set(driver, [...(batches.get(driver) ?? []), entry]);
  return batches;
}

async function saved(store: ClaimStore, what: 'cache' | 'state'): Promise<void> {
  await store.save().catch((cause: unknown) => {
    throw new Error(`checkpoint ResourceClaim ${what}: ${errorText(cause)}`, { cause });
  });
}

/** Waits for all. Rejects with all that failed. */
async function allOf(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).filter((each) => each.status === 'rejected');
  if (failed.length > 0) throw new Error(failed.map(({ reason }) => errorText(reason)).join('; '), { cause: failed[0]?.reason });
}
