import type { Clock } from '../base/clock.ts';
import type { ResourceHealth } from '../ports/pod-participant.ts';
import type { Container, Pod } from '../model/pod.ts';
import { type ClaimStore } from './claim-store.ts';
import { isFor, type PreparedDevice } from './prepared-device.ts';
import { claimNamed } from './resource-claim.ts';

export type Health = 'Healthy' | 'Unhealthy' | 'Unknown';

/** How a driver says that a device does. */
export interface DeviceReport {
  readonly poolName: string;
  readonly deviceName: string;
  readonly health: Health;
  /** Empty: nothing more is said. */
  readonly message: string;
  /** How long it holds unless it is said again; undefined: as long as usual. */
  readonly holdsForMs: number | undefined;
}

type Named = Pick<PreparedDevice, 'poolName' | 'deviceName'>;
type Known = Omit<DeviceReport, 'poolName' | 'deviceName'> & { readonly atMs: number };

/** DefaultHealthTimeout in pkg/kubelet/cm/dra */
const HOLDS_FOR_MS = 30_000;
/** ResourceHealthMessageMaxLength in k8s.io/api/core/v1 */
const MAX_MESSAGE = 1024;
/** Of one driver; the rest is unknown. */
const MAX_DEVICES = 4096;

/** What drivers say of their devices. What is not said again in time is unknown (pkg/kubelet/cm/dra healthInfoCache). */
export class DeviceHealths {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #drivers = new Map<string, Map<string, Known>>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  of(driver: string, device: Named): { readonly health: Health; readonly message: string } {
    const known = this.#drivers.get(driver)?.get(keyOf(device));
    if (known === undefined) return { health: 'Unknown', message: '' };
    const isOld = this.#clock.monotonicMs() - known.atMs > (known.holdsForMs ?? HOLDS_FOR_MS);
    return isOld ? { health: 'Unknown', message: '' } : known;
  }

  /** All that a driver says now. Returns whether the device is another than before. */
  report(driver: string, reports: readonly DeviceReport[]): (device: Named) => boolean {
    const before = this.#drivers.get(driver) ?? new Map<string, Known>();
    const now = new Map(before);
    const changed = new Set<string>();
    for (const { health, message, holdsForMs, ...device } of reports.slice(0, MAX_DEVICES)) {
      const key = keyOf(device);
      const last = this.of(driver, device);
      const words = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 3)}...` : message;
      if (last.health !== health || last.message !== words) changed.add(key);
      // Again at the end: the oldest goes first.
      now.delete(key);
      now.set(key, { health, message: words, holdsForMs, atMs: this.#clock.monotonicMs() });
    }
    this.#drivers.set(driver, new Map([...now].slice(-MAX_DEVICES)));
    return (device) => changed.has(keyOf(device));
  }

  /** As `report`, where the driver says nothing any more. */
  forget(driver: string): (device: Named) => boolean {
    const before = this.#drivers.get(driver);
    this.#drivers.delete(driver);
    return (device) => before?.has(keyOf(device)) === true;
  }
}

/** How the devices of a container's claims do, as its status says it (UpdateAllocatedResourcesStatus). */
export function healthOfContainer(
  pod: Pod,
  { resources }: Container,
  { store, healths, tellsMessages }: { readonly store: ClaimStore; readonly healths: DeviceHealths; readonly tellsMessages: boolean },
): ResourceHealth {
  return (resources?.claims ?? []).flatMap(({ name, request = '' }) => {
    const claim = claimNamed(pod, name);
    const entry = claim === undefined ? undefined : store.get(pod.metadata.namespace, claim);
    const devices = [...(entry?.drivers ?? [])].flatMap(([driver, state]) =>
      state.devices.filter((device) => isFor(device, request)).map((device) => ({ driver, device })),
    );
    const shown = devices.map(({ driver, device }) => {
      const { health, message } = healths.of(driver, device);
      const resourceID = device.cdiDeviceIds[0] ?? `${driver}/${device.poolName}/${device.deviceName}`;
      return { resourceID, health, ...(tellsMessages && message !== '' && { message }) };
    });
    const each = [...new Map(shown.map((one) => [one.resourceID, one])).values()];
    return each.length > 0 ? [{ name: `claim:${name}${request === '' ? '' : `/${request}`}`, resources: each }] : [];
  });
}

const keyOf = ({ poolName, deviceName }: Named): string => `${poolName}/${deviceName}`;
