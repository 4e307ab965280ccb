import { join } from 'node:path';
import { MountStepError } from '../../model/mount-step-error.ts';
import { type FcDisk, fcLinks } from './fc-disk.ts';
import type { Machine } from './machine.ts';
import { removeDevices } from './remove-devices.ts';

const DEVICE_MS = 5_000;
const LOOK_AGAIN_MS = 250;

/** Disks of Fibre Channel, as the kernel and udev show them (pkg/volume/fc). */
export class FcDisks {
  readonly #machine: Machine;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** Resolves with the disk's device, that of several paths before any of them. Rejects with MountStepError. */
  async attach(disk: FcDisk, signal: AbortSignal): Promise<string> {
    const before = await this.#find(disk);
    if (before?.isWhole) return before.device;
    await this.#scan(signal);
    for (let waitedMs = 0; ; waitedMs += LOOK_AGAIN_MS) {
      const found = await this.#find(disk);
      if (found !== undefined) return found.device;
      if (waitedMs >= DEVICE_MS) throw new MountStepError('WaitForAttach', 'no fc disk found');
      await this.#machine.clock.sleep(LOOK_AGAIN_MS, signal);
    }
  }

  /** Takes the disk's devices from the node. Succeeds where there are none. */
  async detach(disk: FcDisk, signal: AbortSignal): Promise<void> {
    const { directory, isName } = fcLinks(disk);
    const linked = await this.#machine.linked(directory, isName);
    const all = new Set<string>();
    for (const device of linked) {
      // By its own name a disk is also the device of its paths.
      const slaves = await this.#machine.names(this.#machine.roots.sys, 'block', device.slice(device.lastIndexOf('/') + 1), 'slaves');
      const paths = slaves.length > 0 ? slaves.map((each) => join(this.#machine.roots.dev, each)) : [device];
      for (const path of paths) all.add(path);
    }
    await removeDevices([...all], this.#machine, signal);
  }

  async #find(disk: FcDisk): Promise<{ readonly device: string; readonly isWhole: boolean } | undefined> {
    const { directory, isName } = fcLinks(disk);
    const devices = await this.#machine.linked(directory, isName);
    for (const device of devices) {
      const whole = await this.#machine.multipathOf(device);
      if (whole !== undefined) return { device: whole, isWhole: true };
    }
    const [device] = devices;
    return device === undefined ? undefined : { device, isWhole: false };
  }

  async #scan(signal: AbortSignal): Promise<void> {
    const hosts = join(this.#machine.roots.sys, 'class/scsi_host');
    await Promise.all(
      (await this.#machine.names(hosts)).map((host) => this.#machine.tell(join(hosts, host, 'scan'), '- - -', signal).catch(() => {})),
    );
  }
}
