import { Subject } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { firstOf } from '../base/first-of.ts';
import { jitter } from '../base/jitter.ts';
import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import { Slots } from '../base/slots.ts';
import { asksForMore, hasMore } from '../model/claim-growth.ts';
import { migratedPersistent } from '../model/csi-migration.ts';
import type { ClaimReader } from '../ports/claim-reader.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { CsiDriver } from './csi-driver.ts';
import type { CsiDrivers } from './csi-drivers.ts';
import type { KnownVolumes, Use } from './known-volumes.ts';
import type { NodeVolumes } from './node-volumes.ts';
import type { VolumeObjects } from './volume-objects.ts';
import type { CsiDriverObject } from './volume-plan.ts';

export interface UpkeepDeps {
  readonly known: Pick<KnownVolumes, 'uses'>;
  readonly volumes: Pick<NodeVolumes, 'renew'>;
  readonly drivers: Pick<CsiDrivers, 'find'>;
  readonly objects: Pick<VolumeObjects, 'driver'>;
  readonly claims: ClaimReader;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Pick<Logger, 'warn'>;
}

/** About as often as a kubelet looks at each pod's volumes again. */
const LOOK_MS = 60_000;
/** So many volumes of one driver are looked at at a time: one that hangs holds up no other. */
const AT_ONCE = 8;

/**
 * Looks after volumes that pods have: one whose driver wants that is published again (requiresRepublish), one whose claim has grown grows. It sleeps
 * while no pod has a volume that could need it.
 */
export class Upkeep {
  readonly #deps: UpkeepDeps;
  readonly #news = new Subject<void>();
  readonly #faults = new OngoingFaults<string>();
  /** Those that are looked at, or wait for that. */
  readonly #busy = new Set<string>();
  /** By driver. */
  readonly #slots = new Map<string, Slots>();

  constructor(deps: UpkeepDeps) {
    this.#deps = deps;
  }

  /** A pod has another volume. */
  look(): void {
    this.#news.next();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { known, clock, random } = this.#deps;
    while (!signal.aborted) {
      try {
        if (!known.uses().some(({ task }) => task !== undefined)) await firstOf(this.#news, signal);
        await clock.sleep(jitter(LOOK_MS, 0.1, random), signal);
      } catch {
        return;
      }
      // One that hangs is not waited for, and not asked again meanwhile.
      void this.#lookAtAll(signal);
    }
  }

  async #lookAtAll(signal: AbortSignal): Promise<void> {
    const { known } = this.#deps;
    const waiting = known.uses().filter(({ task, paths }) => task !== undefined && !this.#busy.has(paths.directory));
    // Each driver's object is read once for all.
    const asked = new Map<string, Promise<CsiDriverObject | undefined>>();
    const objectOf = (driver: string): Promise<CsiDriverObject | undefined> => {
      const answer = asked.get(driver) ?? this.#deps.objects.driver(driver, signal);
      asked.set(driver, answer);
      return answer;
    };
    const looks = waiting.map(async (use) => {
      this.#busy.add(use.paths.directory);
      try {
        await this.#slotsOf(use).run(() => this.#lookAt(use, objectOf, signal), signal);
      } finally {
        this.#busy.delete(use.paths.directory);
      }
    });
    // Only the agent's end keeps one from being looked at.
    await Promise.allSettled(looks);
  }

  #slotsOf({ data: { driverName } }: Use): Slots {
    const slots = this.#slots.get(driverName) ?? new Slots(AT_ONCE);
    this.#slots.set(driverName, slots);
    return slots;
  }

  async #lookAt(use: Use, objectOf: (driver: string) => Promise<CsiDriverObject | undefined>, signal: AbortSignal): Promise<void> {
    const { drivers, volumes, events, log } = this.#deps;
    const driver = drivers.find(use.data.driverName);
    if (driver === undefined || use.task === undefined) return;
    const { pod } = use.task;
    try {
      if ((await objectOf(driver.name))?.spec.requiresRepublish === true) await volumes.renew(use, 'publish', signal);
      if (await this.#hasGrown(use, driver, signal)) {
        await volumes.renew(use, 'grow', signal);
        events.record(pod, 'Normal', 'FileSystemResizeSuccessful', `MountVolume.NodeExpandVolume succeeded for volume "${use.name}"`);
      }
      this.#faults.over(use.paths.directory);
    } catch (error) {
      if (signal.aborted || !this.#faults.fault(use.paths.directory, error)) return;
      log.warn('CSI volume not kept up, retrying', { volume: use.name, pod: `${pod.metadata.namespace}/${pod.metadata.name}`, error });
      const message = `NodeExpandVolume.NodeExpandVolume failed for volume "${use.name}" : ${errorText(error)}`;
      if (error instanceof Error && 'step' in error && error.step === 'NodeExpandVolume')
        events.record(pod, 'Warning', 'VolumeResizeFailed', message);
    }
  }

  /** Reads the volume as it is now where its claim asks for more than it has; the use then has both. */
  async #hasGrown(use: Use, driver: CsiDriver, signal: AbortSignal): Promise<boolean> {
    const { claims } = this.#deps;
    const { task } = use;
    if (task === undefined || 'inline' in task.source || !driver.can('EXPAND_VOLUME')) return false;
    const { metadata } = task.source.claim;
    // A pod's own volume of a cloud has none.
    if (metadata?.name === undefined) return false;
    const claim = await claims.claim(metadata.namespace ?? task.pod.metadata.namespace, metadata.name, signal);
    if (!asksForMore(claim)) return false;
    const persistent = migratedPersistent(await claims.volume(use.name, signal));
    use.task = { ...task, source: { ...task.source, persistent, claim } };
    return hasMore(persistent, claim);
  }
}
